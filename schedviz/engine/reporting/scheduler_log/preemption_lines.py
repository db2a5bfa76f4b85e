"""The lines of v1.36's preemption, without those of filters that its dry run calls.

Upstream: framework/preemption/preemption.go, executor.go, plugins/defaultpreemption/default_preemption.go
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from schedviz.engine.cache.debugger.log_line import LogLine, ObjectRef
from schedviz.engine.framework.plugins.defaultpreemption.default_preemption import DefaultPreemption
from schedviz.engine.reporting.scheduler_log.known_objects import KnownObjects
from schedviz.engine.reporting.scheduler_log.writer import Writer, pod_ref
from schedviz.engine.simulation import Simulation
from schedviz.trace.events import ApiWritten, EventRecorded, StageEnded

_LOGGER: Final = "PostFilter.DefaultPreemption"
_PLUGIN: Final = "DefaultPreemption"
#: What DefaultPreemption returns if all nodes have a reason that evictions do not change.
_NOT_HELPFUL: Final = re.compile(r"preemption: 0/(\d+) nodes are available: \1 Preemption is not helpful for scheduling\.")
_NOT_ELIGIBLE: Final = "preemption: not eligible due to "


class _Preemption(NamedTuple):
    preemptor: str
    node: str
    #: Those that are evicted, in order.
    victims: tuple[str, ...]
    #: Their number with those that were terminating already.
    all_victims: int
    is_async: bool


class PreemptionLines:
    """Derives the lines of preemptions, which may run after their cycles."""

    def __init__(self, writer: Writer, objects: KnownObjects, simulation: Simulation) -> None:
        self._writer = writer
        self._objects = objects
        self._simulation = simulation
        self._is_async = simulation.scheduler.state.features.scheduler_async_preemption
        #: Victim -> the preemption that evicts it.
        self._of_victim: dict[str, _Preemption] = {}
        self._begun: set[str] = set()

    def begins(self, pod: str, event: StageEnded, *, profile: str, nodes: Sequence[str], record: Mapping[str, Any]) -> Iterator[LogLine]:
        """The lines before victims are evicted, from the end of the PostFilter stage.

        `nodes` are those of the snapshot, in order; `record` is empty if the cycle has no full record.
        """
        status = next((each for each in event.statuses if each.plugin == _PLUGIN), None)
        if status is None or status.code == "Error":
            return
        node, reason = event.facts.get("nominatedNode"), "".join(status.reasons)
        writer = self._writer
        if reason.startswith(_NOT_ELIGIBLE):
            values = (pod_ref(pod), ("reason", reason.removeprefix("preemption: ")))
            yield writer.line(
                "preemption/preemption.go:120", "Pod is not eligible for preemption", *values, v=5, cycle_of=pod, logger=_LOGGER
            )
            return
        potential = _potential(nodes, record) if record else []
        if potential:
            yield from self._dry_run(pod, potential, profile, record)
        elif record or _NOT_HELPFUL.fullmatch(reason):
            message = "Preemption will not help schedule pod on any node"
            yield writer.line("preemption/preemption.go:185", message, pod_ref(pod), v=3, cycle_of=pod, logger=_LOGGER)
        if node == "":
            message = "No preemption candidate is found; preemption is not helpful for scheduling"
            yield writer.line("preemption/preemption.go:136", message, pod_ref(pod), v=2, cycle_of=pod, logger=_LOGGER)
        elif node:
            message = "the target node for the preemption is determined"
            yield writer.line("preemption/preemption.go:162", message, ("node", node), pod_ref(pod), v=2, cycle_of=pod, logger=_LOGGER)
            yield from self._prepares(pod, node, list(event.facts.get("victims", ())))

    def _dry_run(self, pod: str, nodes: Sequence[str], profile: str, record: Mapping[str, Any]) -> Iterator[LogLine]:
        """Upstream: DryRunPreemption, SelectVictimsOnNode"""
        state, writer = self._simulation.scheduler.state, self._writer
        plugins = state.profiles[profile].plugins.at("post_filter")
        plugin = next((plugin for plugin in plugins if isinstance(plugin, DefaultPreemption)), None)
        num_candidates = len(nodes) if plugin is None else plugin.num_candidates(len(nodes))
        values = (
            ("potentialNodesNumber", len(nodes)),
            ("pdbsNumber", self._simulation.cluster.store.count("PodDisruptionBudget")),
            ("offset", 0),
            ("candidatesNumber", num_candidates),
        )
        yield writer.line("preemption/preemption.go:415", "Dry run the preemption", *values, v=5, cycle_of=pod, logger=_LOGGER)
        candidates = {candidate["node"]: candidate for candidate in (record.get("postFilter") or {}).get("candidates") or ()}
        counts = {True: 0, False: 0}
        for node in nodes:
            message = "Check the potential node for preemption"
            yield writer.line("preemption/preemption.go:421", message, ("node", node), v=5, cycle_of=pod, logger=_LOGGER)
            candidate = candidates.get(node)
            if candidate is None:
                continue
            for victim in candidate["victims"]:
                fields = (pod_ref(victim), ("node", ObjectRef(node)))
                caller, message = "defaultpreemption/default_preemption.go:326", "Pod is a potential preemption victim on node"
                yield writer.line(caller, message, *fields, v=5, cycle_of=pod, logger=_LOGGER)
            counts[bool(candidate["numPDBViolations"])] += 1
            if counts[False] and counts[False] + counts[True] >= num_candidates:
                return

    def _prepares(self, pod: str, node: str, victims: list[str]) -> Iterator[LogLine]:
        """Upstream: prepareCandidateAsync, prepareCandidate"""
        evicted = []
        for victim in victims:
            obj = self._objects.pod(victim)
            if obj is None or obj.metadata.deletion_timestamp is None:
                evicted.append(victim)
                continue
            message = "Victim Pod is already being deleted, skipping the API call for it"
            values = (pod_ref(pod, "preemptor"), ("node", node), pod_ref(victim, "victim"))
            if self._is_async:
                yield self._writer.line("preemption/executor.go:213", message, *values, v=2)
            else:
                yield self._writer.line("preemption/executor.go:325", message, *values, v=2, cycle_of=pod, logger=_LOGGER)
        preemption = _Preemption(pod, node, tuple(evicted), len(victims), self._is_async)
        self._of_victim.update(dict.fromkeys(evicted, preemption))
        self._begun.discard(pod)

    def wrote(self, event: ApiWritten) -> Iterator[LogLine]:
        """A write to a victim: the first one begins the goroutine, one that finds no pod ends the eviction."""
        preemption = self._of_victim.get(event.key)
        if preemption is None or not event.by_scheduler or event.verb not in ("patch", "delete"):
            return
        yield from self._starts(preemption)
        if event.error.endswith("not found"):
            caller = "preemption/executor.go:140" if event.verb == "patch" else "preemption/executor.go:149"
            yield from self._evicted(preemption, event.key, caller, "Victim Pod is already deleted")
        elif event.error:
            yield from self._failed(preemption, event)

    def recorded(self, event: EventRecorded) -> Iterator[LogLine]:
        """The scheduler recorded a Kubernetes Event about an evicted victim."""
        preemption = self._of_victim.get(event.pod)
        if preemption is None:
            return
        yield from self._starts(preemption)
        if event.note.endswith("(in kube-scheduler memory)."):
            # The events do not show whether it waited at Permit or was in PreBind.
            yield from self._ended(preemption, event.pod)
            return
        yield from self._evicted(preemption, event.pod, "preemption/executor.go:152", "Preemptor Pod preempted victim Pod")

    def _starts(self, preemption: _Preemption) -> Iterator[LogLine]:
        if not preemption.is_async or preemption.preemptor in self._begun:
            return
        self._begun.add(preemption.preemptor)
        values = (
            pod_ref(preemption.preemptor, "preemptor"),
            ("node", preemption.node),
            ("numVictims", preemption.all_victims),
            ("numVictimsToDelete", len(preemption.victims)),
        )
        yield self._writer.line("preemption/executor.go:251", "Start the preemption asynchronously", *values, v=2)

    def _evicted(self, preemption: _Preemption, victim: str, caller: str, message: str) -> Iterator[LogLine]:
        values = (pod_ref(preemption.preemptor, "preemptor"), pod_ref(victim, "victim"), ("node", preemption.node))
        if preemption.is_async:
            yield self._writer.line(caller, message, *values, v=2)
        else:
            yield self._writer.line(caller, message, *values, v=2, cycle_of=preemption.preemptor, logger=_LOGGER)
        yield from self._ended(preemption, victim)

    def _failed(self, preemption: _Preemption, event: ApiWritten) -> Iterator[LogLine]:
        """A victim could not be evicted, which ends the preemption."""
        writer, error = self._writer, event.error
        cycle_of, logger = ("", "") if preemption.is_async else (preemption.preemptor, _LOGGER)
        preemptor = pod_ref(preemption.preemptor, "preemptor")
        if event.verb == "patch":
            text, values = "Could not add DisruptionTarget condition due to preemption", (preemptor, pod_ref(event.key, "victim"))
            yield writer.error("preemption/executor.go:137", text, error, *values, cycle_of=cycle_of, logger=logger)
        else:
            text, values = "Tried to preempted pod", (pod_ref(event.key), preemptor)
            yield writer.error("preemption/executor.go:146", text, error, *values, cycle_of=cycle_of, logger=logger)
        if preemption.is_async:
            if event.key == preemption.victims[-1]:
                text = "Error occurred during async preemption of the last victim"
                yield writer.unhandled("preemption/executor.go:294", text, error, cycle_of="")
            else:
                yield writer.unhandled("preemption/executor.go:278", "Error occurred during async preemption", error, cycle_of="")
            yield self._finished(preemption, "error")
        for victim in preemption.victims:
            self._of_victim.pop(victim, None)

    def _finished(self, preemption: _Preemption, result: str) -> LogLine:
        values = (pod_ref(preemption.preemptor, "preemptor"), ("node", preemption.node), ("result", result))
        return self._writer.line("preemption/executor.go:303", "Async Preemption finished completely", *values, v=2)

    def _ended(self, preemption: _Preemption, victim: str) -> Iterator[LogLine]:
        self._of_victim.pop(victim, None)
        if preemption.is_async and victim == preemption.victims[-1]:
            yield self._finished(preemption, "success")


def _potential(nodes: Sequence[str], record: Mapping[str, Any]) -> list[str]:
    """The nodes that were rejected for reasons that evictions may change. Upstream: NodeToStatus.NodesForStatusCode"""
    absent = (record.get("preFilterStatus") or {}).get("code", "UnschedulableAndUnresolvable")
    codes: dict[str, str] = {}
    for rejection in (*((record.get("nominatedNodeEvaluation") or {}).get("rejected") or ()), *(record.get("filter") or ())):
        codes[rejection["node"]] = rejection["code"]
    for filtered in record.get("extenderFilter") or ():
        codes.update(dict.fromkeys(filtered.get("unresolvable") or (), "UnschedulableAndUnresolvable"))
        codes.update(dict.fromkeys(filtered.get("failed") or (), "Unschedulable"))
    return [node for node in nodes if codes.get(node, absent) == "Unschedulable"]
