"""`DryRun`: the scheduler's results for a pod and every node, without changing anything.

A cycle stops at enough feasible nodes and at the first plugin that rejects; a dry run evaluates every node, and can run every plugin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from schedviz.engine.cluster.watch import Verb, WatchEvent
from schedviz.engine.dryrun.without_effects import without_effects
from schedviz.engine.framework.adjusted_rows import AdjustedRows
from schedviz.engine.framework.cycle_state import CycleState, Data, NotFoundError, StateKey
from schedviz.engine.framework.fit_error import FitError
from schedviz.engine.framework.interface import FilterReads, PreemptionExtender
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.runtime.framework import LEFT_OUT_REASON
from schedviz.engine.framework.runtime.outcomes import FilterOutcome, PostFilterOutcome, PreFilterOutcome, ScoreOutcome
from schedviz.engine.framework.runtime.state_transfer import transfer_state
from schedviz.engine.framework.status import Code, Status, StatusError
from schedviz.engine.framework.types import Generations, NodeInfo, PodInfo
from schedviz.engine.framework.verdicts import Verdicts
from schedviz.kube.core import Pod
from schedviz.kube.devices import ResourceClaim
from schedviz.kube.kinds import BY_TYPE, any_object
from schedviz.kube.meta import KubeObject

if TYPE_CHECKING:
    from schedviz.engine.simulation import Simulation


class UnknownProfileError(LookupError):
    """No profile of this scheduler has the pod's schedulerName."""


class DryRun:
    """A dry run of one pod.

    `simulation` should be a private copy: its snapshot is updated, as by a cycle.
    """

    def __init__(self, simulation: Simulation, pod: Pod) -> None:
        """Run PreFilter. Raises `UnknownProfileError`."""
        state = simulation.scheduler.state
        framework = state.profiles.get(pod.spec.scheduler_name)
        if framework is None:
            names = ", ".join(sorted(state.profiles))
            raise UnknownProfileError(f'{pod.key} asks for the scheduler "{pod.spec.scheduler_name}"; this one is {names}')
        self.framework = framework
        self.pod = state.pod_info(pod)
        self._snapshot = state.snapshot
        refresh_snapshot(simulation)
        self.rows: Rows = state.snapshot.rows()
        self._state = CycleState()
        self.pre_filter: PreFilterOutcome = framework.run_pre_filter_plugins(self._state, self.pod)

    @property
    def row_of(self) -> dict[str, int]:
        """Node name -> its position in `rows`."""
        return self._snapshot.row_of

    def read(self, key: StateKey[Data]) -> Data | None:
        """What a plugin's PreFilter wrote for this pod; None if it wrote nothing."""
        try:
            return self._state.read(key)
        except NotFoundError:
            return None

    @cached_property
    def verdicts(self) -> Verdicts:
        """The deciding Status of every node: PreFilter's, or that of the first Filter plugin that rejects. Nominated pods count."""
        status = self.pre_filter.status
        if not status.is_success:
            return Verdicts.all(len(self.rows), status)
        outcome = self._filtered
        if outcome.error is not None:
            return Verdicts.all(len(self.rows), outcome.error)
        return self._with_left_out(outcome.verdicts)

    @cached_property
    def _filtered(self) -> FilterOutcome:
        return self.framework.filter_rows(self._state, self.pod, self.rows, len(self.rows))

    def _with_left_out(self, verdicts: Verdicts) -> Verdicts:
        """Give the nodes that PreFilter's result excludes a status of their own."""
        names = self.pre_filter.node_names
        if names is None:
            return verdicts
        plugins = [plugin_result.plugin for plugin_result in self.pre_filter.plugin_results if plugin_result.node_names is not None]
        left_out = np.fromiter((name not in names for name in self.rows.names), np.bool_, len(self.rows))
        status = self.framework.status_of_absent_nodes(plugins).with_failed_plugin(plugins[0] if plugins else "")
        return Verdicts(np.where(left_out, len(verdicts.statuses), verdicts.codes), (*verdicts.statuses, status))

    def each_plugin(self) -> Iterator[tuple[str, Verdicts | None]]:
        """The verdicts of every Filter plugin for every node, evaluated independently; None if it rejects none.

        Nominated pods do not count.
        """
        if self.pre_filter.status.is_success:
            yield from self.framework.run_each_filter_plugin(self._state, self.pod, self.rows)

    def scores(self, rows: Rows) -> ScoreOutcome | None:
        """The scores of feasible rows, all of which are scored; None: the profile has no score plugins. Extenders are not called.

        Upstream: schedule_one.go prioritizeNodes
        """
        if not self.framework.has_score_plugins:
            return None
        state = self._state.clone()
        scored = self.framework.run_pre_score_plugins(state, self.pod, rows)
        if not scored.status.is_success:
            return ScoreOutcome(scored.status, (), np.zeros(len(rows), np.int64))
        return self.framework.run_score_plugins(state, self.pod, rows)

    def if_empty(self, *, without: frozenset[str] = frozenset()) -> Verdicts:
        """Filter's verdict for each node if it had no pods, skipping the plugins in `without`."""
        state = self._state.clone()
        state.skip_filter_plugins |= without
        by_sums = self.framework.filter_reads(state, self.pod) is not FilterReads.PODS
        empty = _emptied(self.rows) if by_sums else Rows.of([_emptied_one(info) for info in self.rows.infos])
        return self._with_left_out(self.framework.run_filter_plugins(state, self.pod, empty))

    def without_pods(self, node_info: NodeInfo, pods: Iterable[PodInfo]) -> NodeDryRun:
        """A node of the snapshot without some of its pods."""
        node = NodeDryRun(self, node_info.clone(), self._state.clone())
        for pod in pods:
            node.remove(pod)
        return node

    @property
    def _counted(self) -> Verdicts:
        """The verdicts that a message counts: v1.27.1 has no status for the nodes that PreFilter's result excludes."""
        verdicts = self.verdicts
        is_left_out = [status.reasons == (LEFT_OUT_REASON,) for status in verdicts.statuses]
        if not any(is_left_out):
            return verdicts
        return Verdicts(np.where(np.array(is_left_out)[verdicts.codes], 0, verdicts.codes), verdicts.statuses)

    @property
    def error(self) -> StatusError | None:
        """The error that ends the attempt before it is known whether a node fits; None: there is none. A rejection is no error."""
        status = self.pre_filter.status
        if not status.is_success:
            return None if status.is_unschedulable or status.code is Code.PENDING else status.as_error()
        for name in sorted(self.pre_filter.node_names or ()) if self.framework.needs_named_nodes else ():
            try:
                self._snapshot.get(name)
            except LookupError as error:
                return StatusError(str(error))
        outcome = self._filtered
        return None if outcome.error is None else outcome.error.as_error()

    @property
    def fit_error(self) -> FitError:
        """The scheduler's message if no node fits, without PostFilter's part."""
        error = self.framework.fit_error_type
        diagnosis = error.diagnosis_type.new()
        status = self.pre_filter.status
        if not status.is_success:
            diagnosis.reject_all_nodes(status)
        else:
            diagnosis.node_to_status.add(self.rows, self._counted)
        return error(self.pod.key, len(self.rows), diagnosis)

    def post_filter(self, error: FitError, extenders: Sequence[PreemptionExtender] = ()) -> PostFilterOutcome | None:
        """What the PostFilter plugins return for `error`; None: the profile has none. Nothing is evicted or written.

        Call it before `each_plugin`: plugins find in their state what Filter wrote for the nodes that reached them. `extenders` are asked
        about preemption.
        """
        framework = self.framework
        if not framework.has_post_filter_plugins:
            return None
        with without_effects(framework, extenders):
            return framework.run_post_filter_plugins(self._state, self.pod, error.diagnosis.node_to_status)


class NodeDryRun:
    """One node on which pods are removed and added, and Filter is run again."""

    def __init__(self, dry_run: DryRun, node_info: NodeInfo, state: CycleState) -> None:
        self._dry_run = dry_run
        self._node_info = node_info
        self._state = state

    def remove(self, pod: PodInfo) -> None:
        """Remove a pod from the node."""
        self._node_info.remove_pod(pod)
        self._dry_run.framework.run_pre_filter_extension_remove_pod(self._state, self._dry_run.pod, pod, self._node_info)

    def add(self, pod: PodInfo) -> None:
        """Add a pod again."""
        self._node_info.add_pod(pod)
        self._dry_run.framework.run_pre_filter_extension_add_pod(self._state, self._dry_run.pod, pod, self._node_info)

    def filter_status(self) -> Status:
        """Filter's verdict, with nominated pods and without."""
        framework = self._dry_run.framework
        return framework.run_filter_plugins_with_nominated_pods(self._state, self._dry_run.pod, self._node_info)


@contextmanager
def changed(simulation: Simulation, *, updated: Sequence[KubeObject] = (), deleted: Sequence[KubeObject] = ()) -> Iterator[None]:
    """A copy of a session with other objects, sent to its scheduler as watch events, until the `with` ends.

    Afterwards the objects are equal to those before; the order of the cache's list and the queues may differ.
    """
    informers = simulation.scheduler.state.informers
    before = {(BY_TYPE[type(obj)].name, obj.key): informers.by_key(BY_TYPE[type(obj)].name, obj.key) for obj in updated}
    for obj in deleted:
        _deliver_silently(simulation, "DELETED", obj)
    for obj in updated:
        _replace(simulation, before[BY_TYPE[type(obj)].name, obj.key], obj)
    try:
        yield
    finally:
        for obj in reversed(updated):
            _replace(simulation, obj, before[BY_TYPE[type(obj)].name, obj.key])
        for obj in reversed(deleted):
            _deliver_silently(simulation, "ADDED", obj)


@contextmanager
def configured(simulation: Simulation, config: dict[str, Any] | None) -> Iterator[None]:
    """A copy of a session with another KubeSchedulerConfiguration until the `with` ends. Raises `ConfigurationError`."""
    scheduler = simulation.scheduler
    state = scheduler.state
    before = simulation.config, simulation.configuration, simulation.extenders
    profiles, extenders = state.profiles, state.extenders
    try:
        simulation.configure(config)
        state.profiles = scheduler.profiles_of(simulation.configuration, simulation.extenders)
        state.extenders = simulation.extenders
        for name, framework in state.profiles.items():
            transfer_state(profiles.get(name), framework)
        yield
    finally:
        simulation.config, simulation.configuration, simulation.extenders = before
        state.profiles, state.extenders = profiles, extenders


def _replace(simulation: Simulation, old: KubeObject | None, new: KubeObject | None) -> None:
    """Send the event of a change.

    The scheduler takes no claim that is not newer than the one that it has, and in v1.36 no pod that leaves its node, which a real API
    server never sends: these are deleted first.
    """
    if new is None:
        assert old is not None
        _deliver_silently(simulation, "DELETED", old)
    elif old is None or isinstance(old, ResourceClaim) or _leaves_node(old, new):
        if old is not None:
            _deliver_silently(simulation, "DELETED", old)
        _deliver_silently(simulation, "ADDED", new)
    else:
        _deliver_silently(simulation, "MODIFIED", new)


def _leaves_node(old: KubeObject, new: KubeObject) -> bool:
    """Whether a bound pod is on another node, or on none, afterwards."""
    return isinstance(old, Pod) and isinstance(new, Pod) and old.spec.node_name not in ("", new.spec.node_name)


def _deliver_silently(simulation: Simulation, verb: Verb, obj: KubeObject) -> None:
    with simulation.recorder.silenced():
        simulation.scheduler.handle(WatchEvent(0, verb, BY_TYPE[type(obj)].name, any_object(obj)))


def refresh_snapshot(simulation: Simulation) -> None:
    """Update the scheduler's snapshot from its cache, without an event."""
    state = simulation.scheduler.state
    with simulation.recorder.silenced():
        state.cache.update_snapshot(state.snapshot)


def _emptied(rows: Rows) -> Rows:
    """All nodes without pods, for plugins that read sums; 30 times as fast as building 5,000 NodeInfos."""
    return AdjustedRows(rows, lambda resource: -(rows.pod_count() if resource == "pods" else rows.requested(resource)))


def _emptied_one(info: NodeInfo) -> NodeInfo:
    """The node without pods."""
    empty = NodeInfo(info.name, Generations())
    empty.node = info.node
    empty.allocatable = info.allocatable
    empty.image_states = info.image_states
    return empty
