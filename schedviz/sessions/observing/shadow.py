"""The shadow scheduler of a followed session, run by its engine worker: a dry run for each real binding, and one for each pod
that is still pending at the end of the slice with which it came.

Dry runs are made in the order of the observations. A binding that overtook others is judged together with them, when they are known
too. One that does not agree is judged again (recheck_queue.py). Results are stored in the transaction of the engine's slice.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from schedviz.engine import Simulation
from schedviz.engine.dryrun.live_dry_runs import LiveDryRuns, StatefulPluginError
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.provisioning import selected_node
from schedviz.explain.shadowing.in_flight import Bound, Move, Replay, bound_pod
from schedviz.explain.shadowing.judgement import Choice, Judgement
from schedviz.explain.shadowing.shadow import DISAGREEMENTS, choose
from schedviz.kube.core import Pod
from schedviz.sessions.models import Session
from schedviz.sessions.observing.agreement import BindingSeen, DeletedWhilePending, JudgedBinding, PodArrival, PodPlaced, ShadowRecord
from schedviz.sessions.observing.bindings_in_flight import BindingInFlight, BindingsInFlight
from schedviz.sessions.observing.observer_facts import ObserverFacts
from schedviz.sessions.observing.pending import PendingPods, Waiting, is_waiting
from schedviz.sessions.observing.recheck_queue import RecheckQueue
from schedviz.sessions.observing.search_budget import SearchBudget
from schedviz.trace.commands import AnyCommand, Create, Delete, Update

logger = logging.getLogger(__name__)

#: The maximum number of moves that are kept, to restore the nodes as they were.
_MAX_MOVES: Final = 1024
#: Verdicts that may depend on the order of decisions.
_ORDER_DEPENDENT_VERDICTS: Final = DISAGREEMENTS | {"undecided"}
#: Causes of disagreements that do not depend on it.
_CERTAIN_CAUSES: Final = frozenset({"release", "sampling"})
_DRY_RUN_FAILED = "the dry run failed, which is a bug in schedviz; the server's log has the details"
_IN_CYCLE = "the session was within a scheduling cycle of its own"


class Shadow:
    """The shadow scheduler of one hosted engine. It considers only commands that came from an observer."""

    def __init__(self, session: Session, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._session_id: UUID = session.pk
        self._clock = clock
        self._observer = ObserverFacts(session)
        self._rechecks = RecheckQueue(session.pk, clock=clock, release_differs=self._observer.is_of_other_release)
        self._dry_runs = LiveDryRuns(assumed=self._assumed)
        #: How long dry runs have taken so far, in seconds. A replay runs none.
        self.seconds = 0.0
        self._search_budget = SearchBudget(clock=clock)
        #: What `drain` returns next.
        self._records: list[ShadowRecord] = []
        #: The pod that the command is about, as it was before; None: there is none.
        self._before: Pod | None = None
        #: How the pod that the command binds waited; None: it binds none.
        self._waited: Waiting | None = None
        #: None: not yet read from the engine.
        self._pending: PendingPods | None = None
        #: The newest moves: pods that were bound or are gone.
        self._moves: deque[Move] = deque(maxlen=_MAX_MOVES)
        #: How many moves there were, the forgotten ones included.
        self._moves_made = 0
        self._in_flight = BindingsInFlight(clock)
        #: Pods that have arrived in this slice, each with its event, until a dry run is made for them at its end. An idle scheduler binds
        #: such a pod at once, so most are bound before, and the dry run for the binding is that for the arrival, too.
        self._arrivals: dict[str, tuple[Pod, int]] = {}

    def before(self, simulation: Simulation, command: AnyCommand, *, is_ordered: bool = True) -> None:
        """Called before a command is executed. `is_ordered`: its order among the other observations is that of the cluster."""
        self._before = self._waited = None
        if self._observer.source and (node := _changed_node(command)):
            # A replay does not restore nodes, so bindings in flight are judged on those that their scheduler knew.
            self._settle(simulation)
            self._rechecks.note_node_change(node)
        if not _is_about_pod(command) or not self._observer.follows():
            return
        pending = self._pending_pods(simulation)
        pod = self._before = _find(simulation, command)
        if pod is None or pod.uid not in pending:
            return
        if isinstance(command, Update) and (node := _node_of(command.object)):
            self._bound(simulation, pending, pod, node, is_ordered=is_ordered)

    def after(self, simulation: Simulation, command: AnyCommand) -> None:
        """Called after a command was executed."""
        if not _is_about_pod(command) or not self._observer.follows():
            return
        pending = self._pending_pods(simulation)
        before, pod = self._before, _find(simulation, command)
        self._note_move(simulation, before, pod)
        if pod is not None and is_waiting(pod):
            is_new = pod.uid not in pending
            was_gated = before is not None and bool(before.spec.scheduling_gates)
            place = pending.add(pod, after_move=self._moves_made, gated=_is_gated(simulation, pod))
            if place is not None and not pod.spec.scheduling_gates and pod.spec.scheduler_name in simulation.scheduler.state.profiles:
                self._records.append(PodPlaced(pod.key, pod.uid, place))
            if (is_new or was_gated) and not pod.spec.scheduling_gates:
                self._arrivals[pod.uid] = (pod, simulation.event)
        elif before is not None and pending.remove(before.uid) is not None:
            self._arrivals.pop(before.uid, None)
            self._records.append(DeletedWhilePending(before.key, before.uid))
            self._rechecks.note_vanished(before, self._moves_made)
        self._settle_if_complete(simulation)

    def drain(self, simulation: Simulation) -> list[ShadowRecord]:
        """The records since the last drain, in order."""
        for uid in list(self._arrivals):
            self._choose_for_arrival(simulation, uid)
        self._finish_rechecks(simulation)
        records, self._records = self._records, []
        self._observer.forget()
        return records

    def settle(self, simulation: Simulation, *, now: bool = False) -> None:
        """Judge bindings that have waited long enough for others; `now`: all that wait. For sessions without commands to execute."""
        if self._in_flight and (now or self._in_flight.is_overdue()):
            self._settle(simulation)
        self._finish_rechecks(simulation, now=now)

    @property
    def is_followed(self) -> bool:
        """Whether the session is known to follow a cluster."""
        return bool(self._observer.source)

    def is_observed(self, key: str) -> bool:
        """Whether the command with this key was made from an observation."""
        return self.is_followed and key.startswith(f"{self._observer.source}:")

    # --- Bindings

    def _bound(self, simulation: Simulation, pending: PendingPods, pod: Pod, node: str, *, is_ordered: bool) -> None:
        waited = self._waited = pending.remove(pod.uid)
        assert waited is not None
        event = simulation.event
        if pod.spec.scheduler_name not in simulation.scheduler.state.profiles:
            return
        if simulation.scheduler.cycle is not None:
            self._arrivals.pop(pod.uid, None)
            self._records.append(self._binding(pod, node, event, Judgement("unjudged", reasons=(_IN_CYCLE,))))
            return
        # It is unknown when a rejected pod was tried again: probably after the pods that arrived before its binding.
        is_retried = waited.place != "active"
        rank = (waited.rank[0], pending.latest) if is_retried else waited.rank
        bound = Bound(pod, node, rank, waited.arrived_after_move, self._moves_made, is_ordered, is_retried)
        ahead = pending.ahead_of(rank)
        if not self._in_flight and not ahead:
            judgement = self._judge(simulation, [bound], is_complete=True)[0]
            if (arrival := self._arrivals.pop(pod.uid, None)) is not None and judgement.choice is not None:
                self._records.append(PodArrival(pod.key, pod.uid, arrival[1], judgement.choice))
            self._judged(BindingInFlight(bound, event), judgement)
            return
        self._choose_for_arrival(simulation, pod.uid)
        self._in_flight.add(BindingInFlight(bound, event), ahead)
        self._records.append(BindingSeen(pod.key, pod.uid, event, node))
        # The binding itself is executed next.
        self._settle_if_complete(simulation)

    def _settle_if_complete(self, simulation: Simulation) -> None:
        if self._pending is not None and self._in_flight.is_due(self._pending):
            self._settle(simulation)

    def _settle(self, simulation: Simulation) -> None:
        """Judge the bindings in flight."""
        if not self._in_flight or simulation.scheduler.cycle is not None:
            return
        in_flight, awaited = self._in_flight.take()
        if self._pending is not None:
            self._pending.pass_by(awaited)
        judgements = self._judge(simulation, [binding.bound for binding in in_flight], is_complete=not awaited)
        for binding, judgement in zip(in_flight, judgements, strict=True):
            self._judged(binding, judgement)

    def _judged(self, binding: BindingInFlight, judgement: Judgement) -> None:
        """Store a verdict, or judge the binding again later if more may become known."""
        bound = binding.bound
        pod, node = bound.pod, bound.node
        if judgement.verdict in _ORDER_DEPENDENT_VERDICTS and judgement.cause not in _CERTAIN_CAUSES and self._may_change(bound):
            self._rechecks.add(bound, binding.event, judgement)
            self._records.append(BindingSeen(pod.key, pod.uid, binding.event, node))
        else:
            judgement = self._rechecks.undecided_if_nodes_changed(node, judgement, since=self._clock())
            self._records.append(self._binding(pod, node, binding.event, judgement))

    def _may_change(self, bound: Bound) -> bool:
        is_retrying = self._pending is not None and self._pending.has_rejected
        return self._rechecks.may_change(bound, has_times=self._observer.has_times(), is_retrying=is_retrying)

    def _finish_rechecks(self, simulation: Simulation, *, now: bool = False) -> None:
        if not self._rechecks or not _may_dry_run(simulation):
            return
        for recheck, judgement in self._rechecks.due(simulation, self._dry_runs, self._moves, now=now):
            self._records.append(self._binding(recheck.bound.pod, recheck.bound.node, recheck.event, judgement))

    def _judge(self, simulation: Simulation, bound: list[Bound], *, is_complete: bool) -> list[Judgement]:
        replay = Replay(
            simulation,
            self._dry_runs,
            list(self._moves),
            release_differs=self._observer.is_of_other_release,
            may_search=self._search_budget.is_left,
        )
        began, cpu_began = time.perf_counter(), time.thread_time()
        try:
            if len(bound) == 1:
                return [replay.judge_one(bound[0])]
            return replay.judge_all(bound, is_complete=is_complete)
        except StatefulPluginError as error:
            return [Judgement("unjudged", reasons=(str(error),))] * len(bound)
        except Exception:
            logger.exception("the dry run of %s in session %s failed", bound[0].pod.key, self._session_id)
            return [Judgement("unjudged", reasons=(_DRY_RUN_FAILED,))] * len(bound)
        finally:
            self.seconds += time.perf_counter() - began
            self._search_budget.use(time.thread_time() - cpu_began)

    @staticmethod
    def _binding(pod: Pod, node: str, event: int, judgement: Judgement) -> JudgedBinding:
        return JudgedBinding(pod.key, pod.uid, event, node, judgement, profile=pod.spec.scheduler_name)

    # --- Pods

    def _assumed(self, simulation: Simulation) -> list[PodInfo]:
        """The pending pods that the cluster's scheduler has assumed on a node, where their volumes are being provisioned."""
        pods = self._pending.may_bind_claims if self._pending is not None else ()
        chosen = ((pod, selected_node(simulation, pod)) for pod in pods)
        return [simulation.scheduler.state.pod_info(bound_pod(pod, node)) for pod, node in chosen if node]

    def _choose_for_arrival(self, simulation: Simulation, uid: str) -> None:
        """Make the dry run for a pod that has arrived, if it is due."""
        if (arrival := self._arrivals.pop(uid, None)) is None or not _may_dry_run(simulation):
            return
        pod, event = arrival
        if (choice := self._choose(simulation, pod)) is not None:
            self._records.append(PodArrival(pod.key, pod.uid, event, choice))

    def _note_move(self, simulation: Simulation, before: Pod | None, pod: Pod | None) -> None:
        """Record that a pod was bound, or that a bound one is gone."""
        was_placed, is_placed = before is not None and _is_placed(before), pod is not None and _is_placed(pod)
        if was_placed == is_placed:
            return
        moved = pod if is_placed else before
        assert moved is not None
        self._moves_made += 1
        info, waited = simulation.scheduler.state.pod_info(moved), self._waited
        if is_placed and waited is not None:
            is_nominated = waited.place == "nominated"
            move = Move(self._moves_made, info, is_placed, waited.rank, is_retried=waited.place != "active", is_nominated=is_nominated)
        else:
            move = Move(self._moves_made, info, is_placed)
        self._moves.append(move)

    def _pending_pods(self, simulation: Simulation) -> PendingPods:
        if self._pending is None:
            self._pending = PendingPods()
            for pod in simulation.cluster.store.of_kind("Pod").values():
                if isinstance(pod, Pod) and is_waiting(pod):
                    self._pending.add(pod, after_move=None, gated=_is_gated(simulation, pod))
        return self._pending

    def _choose(self, simulation: Simulation, pod: Pod) -> Choice | None:
        """None if the pod uses another scheduler."""
        if pod.spec.scheduler_name not in simulation.scheduler.state.profiles:
            return None
        began = time.perf_counter()
        try:
            with self._dry_runs.dry_run(simulation, pod) as dry_run:
                return choose(simulation, dry_run)
        except StatefulPluginError as error:
            return Choice(0, 0, message=str(error))
        except Exception:
            logger.exception("the dry run of %s in session %s failed", pod.key, self._session_id)
            return Choice(0, 0, message=_DRY_RUN_FAILED)
        finally:
            self.seconds += time.perf_counter() - began


def _is_gated(simulation: Simulation, pod: Pod) -> bool:
    """Whether a PreEnqueue plugin keeps the pod out of activeQ here, and therefore in the cluster."""
    queued = simulation.scheduler.state.queue.unschedulable_pods.get(pod.key)
    return queued is not None and queued.gated


def _changed_node(command: AnyCommand) -> str:
    """The name of the node that the command changes; "": none."""
    if isinstance(command, Create | Update) and command.object.get("kind") == "Node":
        return str(command.object["metadata"]["name"])
    return command.name if isinstance(command, Delete) and command.kind == "Node" else ""


def _is_about_pod(command: AnyCommand) -> bool:
    if isinstance(command, Create | Update):
        return command.object.get("kind") == "Pod"
    return isinstance(command, Delete) and command.kind == "Pod"


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


def _is_placed(pod: Pod) -> bool:
    """Whether the pod occupies a node."""
    return bool(pod.spec.node_name) and not pod.is_finished


def _may_dry_run(simulation: Simulation) -> bool:
    """Whether the cache has all nodes and pods: no cycle is between two stages, and a scheduler that has just started has listed them."""
    return simulation.scheduler.cycle is None and simulation.listing is None
