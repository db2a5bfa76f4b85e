"""PodTopologySpread: matching pods are spread evenly over zones, hosts, or other domains.

Upstream: framework/plugins/podtopologyspread/plugin.go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from schedviz.engine.config.plugin_args import PodTopologySpreadArgs
from schedviz.engine.framework.cycle_state import CycleState, NotFoundError
from schedviz.engine.framework.interface import FilterReads, Handle, PreFilterResult, Scores
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.spread import default_selector
from schedviz.engine.framework.plugins.podtopologyspread import filtering, scoring
from schedviz.engine.framework.plugins.podtopologyspread.constraint import HOSTNAME, Constraint, parse_constraints
from schedviz.engine.framework.plugins.podtopologyspread.filtering import PRE_FILTER_STATE_KEY, PreFilterState
from schedviz.engine.framework.plugins.podtopologyspread.scoring import PRE_SCORE_STATE_KEY, PreScoreState
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Status, as_status
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, NodeInfo, PodInfo, RegisteredEvent
from schedviz.engine.framework.verdicts import Verdicts
from schedviz.kube.affinity import TopologySpreadConstraint
from schedviz.kube.selectors import SelectorError

DO_NOT_SCHEDULE: Final = "DoNotSchedule"
SCHEDULE_ANYWAY: Final = "ScheduleAnyway"

#: For pods without constraints, unless the profile sets others. Upstream: systemDefaultConstraints
SYSTEM_DEFAULT_CONSTRAINTS: Final = (
    TopologySpreadConstraint(max_skew=3, topology_key=HOSTNAME, when_unsatisfiable=SCHEDULE_ANYWAY),
    TopologySpreadConstraint(max_skew=5, topology_key="topology.kubernetes.io/zone", when_unsatisfiable=SCHEDULE_ANYWAY),
)


class PodTopologySpread:
    name = names.POD_TOPOLOGY_SPREAD
    #: Whether soft constraints with the same topology key have counts of their own.
    _counts_by_constraint: ClassVar[bool] = False

    def __init__(self, args: PodTopologySpreadArgs, handle: Handle) -> None:
        self._handle = handle
        self._system_defaulted = args.defaulting_type == "System"
        self._default_constraints = SYSTEM_DEFAULT_CONSTRAINTS if self._system_defaulted else args.default_constraints

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        return (
            ClusterEvent(GVK.POD, ActionType.ALL),
            ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_NODE_LABEL),
        )

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]:
        try:
            constraints = self._constraints(pod, DO_NOT_SCHEDULE)
        except SelectorError as error:
            return None, as_status(f"obtaining pod's hard topology spread constraints: {error}")
        pre_filter_state = filtering.cal_pre_filter_state(snapshot.rows(), pod, constraints) if constraints else PreFilterState()
        state.write(PRE_FILTER_STATE_KEY, pre_filter_state)
        return None, SUCCESS

    def add_pod(self, state: CycleState, pod_to_schedule: PodInfo, pod_to_add: PodInfo, node_info: NodeInfo) -> Status:
        return _update(state, pod_to_schedule, pod_to_add, node_info, 1)

    def remove_pod(self, state: CycleState, pod_to_schedule: PodInfo, pod_to_remove: PodInfo, node_info: NodeInfo) -> Status:
        return _update(state, pod_to_schedule, pod_to_remove, node_info, -1)

    def filter_reads(self, state: CycleState, pod: PodInfo) -> FilterReads:  # noqa: ARG002 - the extension point's shape
        has_constraints = PRE_FILTER_STATE_KEY not in state or state.read(PRE_FILTER_STATE_KEY).constraints
        return FilterReads.PODS if has_constraints else FilterReads.NODE

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:
        try:
            pre_filter_state = state.read(PRE_FILTER_STATE_KEY)
        except NotFoundError as error:
            return Verdicts.all(len(rows), as_status(f'reading "{PRE_FILTER_STATE_KEY.name}" from cycleState: {error}'))
        return filtering.filter_rows(pre_filter_state, pod, rows) if pre_filter_state.constraints else None

    def pre_score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Status:
        if not len(rows):
            return SUCCESS
        try:
            constraints = self._constraints(pod, SCHEDULE_ANYWAY)
        except SelectorError as error:
            return as_status(f"calculating preScoreState: obtaining pod's soft topology spread constraints: {error}")
        if not constraints:
            return self._pre_score_nothing(state)
        # With the scheduler's default constraints, nodes without a zone still count for spreading by hostname.
        require_all = bool(pod.pod.spec.topology_spread_constraints) or not self._system_defaulted
        pre_score_state = scoring.init_pre_score_state(
            self._handle.snapshot.rows(),
            rows,
            pod,
            constraints,
            require_all_topologies=require_all,
            by_constraint=self._counts_by_constraint,
        )
        state.write(PRE_SCORE_STATE_KEY, pre_score_state)
        return SUCCESS

    def _pre_score_nothing(self, state: CycleState) -> Status:
        """What a pod without soft constraints leaves for Score."""
        state.write(PRE_SCORE_STATE_KEY, PreScoreState())
        return SUCCESS

    def score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status:
        try:
            pre_score_state = state.read(PRE_SCORE_STATE_KEY)
        except NotFoundError as error:
            return _missing_pre_score_state(error)
        return scoring.score_rows(pre_score_state, pod, rows)

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: Scores) -> Scores | Status:  # noqa: ARG002
        try:
            pre_score_state = state.read(PRE_SCORE_STATE_KEY)
        except NotFoundError as error:
            return _missing_pre_score_state(error)
        return scoring.normalize(pre_score_state, scores)

    def _constraints(self, pod: PodInfo, action: str) -> tuple[Constraint, ...]:
        """The pod's constraints, or the defaults with a selector derived for it. Upstream: buildDefaultConstraints"""
        own = pod.pod.spec.topology_spread_constraints
        labels = pod.pod.metadata.labels
        if own:
            return parse_constraints(own, labels, action)
        if not self._default_constraints:
            return ()
        # Checked first: usually nothing selects the pod, and the defaults need not be parsed.
        selector = default_selector(pod.pod, self._handle.objects)
        if selector.is_empty:
            return ()
        defaults = parse_constraints(self._default_constraints, labels, action)
        return tuple(Constraint(default.max_skew, default.topology_key, selector, default.min_domains) for default in defaults)


def _update(state: CycleState, pod: PodInfo, changed: PodInfo, node_info: NodeInfo, delta: int) -> Status:
    try:
        state.read(PRE_FILTER_STATE_KEY).update_with_pod(changed, pod, node_info, delta)
    except NotFoundError as error:
        return as_status(f'reading "{PRE_FILTER_STATE_KEY.name}" from cycleState: {error}')
    return SUCCESS


def _missing_pre_score_state(error: NotFoundError) -> Status:
    return as_status(f'error reading "{PRE_SCORE_STATE_KEY.name}" from cycleState: {error}')
