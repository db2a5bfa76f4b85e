"""The shadow scheduler of a followed session, run by its engine worker: a dry cycle for each pod on arrival and just before its real
binding.

Dry cycles run in the order of the observations. Their results are stored in the transaction of the engine's slice.
"""

from __future__ import annotations

import logging
from typing import Any
from uuid import UUID

from schedviz.engine import Simulation
from schedviz.engine.dryrun.live_dry_runs import LiveDryRuns, StatefulPluginError
from schedviz.explain.judgement import Choice, Judgement
from schedviz.explain.shadow import choose, judge
from schedviz.kube.core import Pod
from schedviz.sessions.models import Observer, Session
from schedviz.sessions.observing.agreement import Binding, DeletedWhilePending, PodArrival, Shown
from schedviz.trace.commands import AnyCommand, Create, Delete, Update

logger = logging.getLogger(__name__)

_FINISHED = frozenset({"Succeeded", "Failed"})
_BROKE = "the dry cycle failed, which is a bug in schedviz; the server's log has the details"


class Shadow:
    """The shadow scheduler of one hosted engine. It considers only commands that came from an observer."""

    def __init__(self, session: Session) -> None:
        self._session_id: UUID = session.pk
        #: A fork is detached, so its commands say nothing about the real scheduler.
        self._is_detached = "fork" in session.source
        self._is_followed = False
        self._looked = False
        self._dry_runs = LiveDryRuns()
        self._results: list[Shown] = []
        self._before: Pod | None = None

    def before(self, simulation: Simulation, command: AnyCommand) -> None:
        """Called before a command is executed."""
        self._before = None
        if not _is_about_pod(command) or simulation.scheduler.cycle is not None or not self._follows():
            return
        pod = self._before = _find(simulation, command)
        if pod is None or not _is_pending(pod):
            return
        if isinstance(command, Delete):
            self._results.append(DeletedWhilePending(pod.key, pod.uid))
        elif isinstance(command, Update) and (node := _node_of(command.object)):
            judgement = self._judge(simulation, pod, node)
            if judgement is not None:
                self._results.append(Binding(pod.key, pod.uid, simulation.event, node, judgement))

    def after(self, simulation: Simulation, command: AnyCommand) -> None:
        """Called after a command was executed."""
        if not isinstance(command, Create | Update) or not _is_about_pod(command) or not self._follows():
            return
        before, pod = self._before, _find(simulation, command)
        if pod is None or not _is_pending(pod) or (before is not None and _is_pending(before)) or simulation.scheduler.cycle is not None:
            return
        choice = self._choose(simulation, pod)
        if choice is not None:
            self._results.append(PodArrival(pod.key, pod.uid, simulation.event, choice))

    def drain(self) -> list[Shown]:
        """The results since the last drain, in order."""
        shown, self._results = self._results, []
        self._looked = False
        return shown

    @property
    def is_followed(self) -> bool:
        """Whether the session is known to follow a cluster."""
        return self._is_followed

    def _follows(self) -> bool:
        """Whether the session has an observer; as long as it has none, this is queried once per slice."""
        if not self._is_followed and not self._looked and not self._is_detached:
            self._looked = True
            self._is_followed = Observer.objects.filter(session_id=self._session_id).exists()
        return self._is_followed

    def _choose(self, simulation: Simulation, pod: Pod) -> Choice | None:
        """None if the pod uses another scheduler."""
        if pod.spec.scheduler_name not in simulation.scheduler.state.profiles:
            return None
        try:
            with self._dry_runs.dry_run(simulation, pod) as dry_run:
                return choose(simulation, dry_run)
        except StatefulPluginError as error:
            return Choice(0, 0, message=str(error))
        except Exception:
            logger.exception("the dry cycle of %s in session %s failed", pod.key, self._session_id)
            return Choice(0, 0, message=_BROKE)

    def _judge(self, simulation: Simulation, pod: Pod, node: str) -> Judgement | None:
        """None if the pod uses another scheduler."""
        if pod.spec.scheduler_name not in simulation.scheduler.state.profiles:
            return None
        try:
            with self._dry_runs.dry_run(simulation, pod) as dry_run:
                return judge(simulation, dry_run, node)
        except StatefulPluginError as error:
            return Judgement("unjudged", reasons=(str(error),))
        except Exception:
            logger.exception("the dry cycle of %s in session %s failed", pod.key, self._session_id)
            return Judgement("unjudged", reasons=(_BROKE,))


def _is_about_pod(command: AnyCommand) -> bool:
    if isinstance(command, Create | Update):
        return command.object.get("kind") == "Pod"
    return isinstance(command, Delete) and command.kind == "Pod" and not command.graceful


def _find(simulation: Simulation, command: AnyCommand) -> Pod | None:
    if isinstance(command, Delete):
        namespace, name = command.namespace, command.name
    else:
        assert isinstance(command, Create | Update)
        meta: dict[str, Any] = command.object["metadata"]
        namespace, name = meta.get("namespace") or "default", meta["name"]
    found = simulation.cluster.find("Pod", f"{namespace}/{name}")
    return found if isinstance(found, Pod) else None


def _node_of(pod: dict[str, Any]) -> str:
    return str((pod.get("spec") or {}).get("nodeName") or "")


def _is_pending(pod: Pod) -> bool:
    """Whether a scheduler would process the pod."""
    spec = pod.spec
    return not (spec.node_name or spec.scheduling_gates or pod.metadata.deletion_timestamp or pod.status.phase in _FINISHED)
