"""How plugins are run, when that stops, and the messages of the results."""

import numpy as np
import pytest

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import NominatingInfo, NominatingMode, PostFilterResult, PreFilterResult
from schedviz.engine.framework.status import SKIP, SUCCESS, Code, Status, StatusError, as_status, unresolvable, unschedulable
from schedviz.engine.releases.v1_27_plugins import in_tree_registry

SECOND = 1_000_000_000


class Scripted:
    """A plugin with configured answers; it has only the given extension points."""

    def __init__(self, name, **answers):
        self.name = name
        self.calls = []
        for point, answer in answers.items():
            setattr(self, point, self._answer(point, answer))

    def _answer(self, point, answer):
        def ask(*args):
            self.calls.append((point, args))
            return answer(*args) if callable(answer) else answer

        return ask


@pytest.fixture
def scripted(world):
    def make(*plugins):
        registry = {**in_tree_registry(), **{plugin.name: lambda _args, _handle, plugin=plugin: plugin for plugin in plugins}}
        entries = [{"name": name} for name in ("PrioritySort", *(plugin.name for plugin in plugins), "DefaultBinder")]
        config = {"profiles": [{"plugins": {"multiPoint": {"enabled": entries, "disabled": [{"name": "*"}]}}}]}
        world.update()
        return world.framework(config, registry)

    return make


def _node_filter(rejected, status):
    return lambda _state, _pod, info: status if info.name in rejected else SUCCESS


# PreFilter


def test_prefilter_results_are_intersected(world, scripted):
    first = Scripted("A", pre_filter=(PreFilterResult(frozenset({"n1", "n2"})), SUCCESS))
    second = Scripted("B", pre_filter=(PreFilterResult(frozenset({"n2", "n3"})), SUCCESS))

    outcome = scripted(first, second).run_pre_filter_plugins(CycleState(), world.pod("p"))

    assert outcome.node_names == {"n2"}
    assert [answer.node_names for answer in outcome.plugin_results] == [("n1", "n2"), ("n2", "n3")]


def test_prefilter_that_leaves_no_node_names_its_plugins(world, scripted):
    first = Scripted("A", pre_filter=(PreFilterResult(frozenset({"n1"})), SUCCESS))
    second = Scripted("B", pre_filter=(PreFilterResult(frozenset({"n2"})), SUCCESS))

    both = scripted(first, second).run_pre_filter_plugins(CycleState(), world.pod("p"))
    one = scripted(Scripted("A", pre_filter=(PreFilterResult(frozenset()), SUCCESS))).run_pre_filter_plugins(CycleState(), world.pod("p"))

    assert both.status == unschedulable("node(s) didn't satisfy plugin(s) [A B] simultaneously")
    assert one.status == unschedulable("node(s) didn't satisfy plugin A")


def test_a_failed_prefilter_ends_prefilter_and_leaves_the_skips_unset(world, scripted):
    skip = Scripted("A", pre_filter=(None, SKIP))
    fail = Scripted("B", pre_filter=(None, unresolvable("no")))
    never = Scripted("C", pre_filter=(None, SUCCESS))
    state = CycleState()

    outcome = scripted(skip, fail, never).run_pre_filter_plugins(state, world.pod("p"))

    assert outcome.status == unresolvable("no").with_failed_plugin("B")
    assert never.calls == []
    assert state.skip_filter_plugins == frozenset()


def test_an_error_in_prefilter_is_wrapped(world, scripted):
    outcome = scripted(Scripted("A", pre_filter=(None, as_status("boom")))).run_pre_filter_plugins(CycleState(), world.pod("p"))

    assert (outcome.status.code, outcome.status.message) == (Code.ERROR, 'running PreFilter plugin "A": boom')


# Filter


def test_a_plugin_evaluates_only_rows_that_passed_earlier_plugins(world, scripted):
    for name in ("n1", "n2", "n3"):
        world.node(name)
    first = Scripted("A", filter_node=_node_filter({"n2"}, unschedulable("a")))
    second = Scripted("B", filter_node=_node_filter({"n3"}, unresolvable("b")))

    _, outcome, _ = world.filter(scripted(first, second), world.pod("p"))

    assert [args[2].name for _, args in second.calls] == ["n1", "n3"]
    assert outcome.node_to_status() == {
        "n2": unschedulable("a").with_failed_plugin("A"),
        "n3": unresolvable("b").with_failed_plugin("B"),
    }
    assert {status.failed_plugin for status in outcome.rejections()} == {"A", "B"}
    assert outcome.evaluated == 3


def test_a_skipped_plugin_does_not_run(world, scripted):
    world.node("n1")
    plugin = Scripted("A", pre_filter=(None, SKIP), filter_node=unschedulable("never"))

    _, outcome, _ = world.filter(scripted(plugin), world.pod("p"))

    assert outcome.feasible.tolist() == [0]


@pytest.mark.parametrize(("want", "feasible", "evaluated"), [(1, [1], 3), (2, [1, 3], 5), (3, [1, 3, 5], 6), (9, [1, 3, 5], 6)])
def test_the_search_visits_one_more_feasible_node_and_omits_it(world, scripted, want, feasible, evaluated):
    for number in range(6):
        world.node(f"n{number}")
    plugin = Scripted("A", filter_node=_node_filter({"n0", "n2", "n4"}, unschedulable("even")))

    _, outcome, _ = world.filter(scripted(plugin), world.pod("p"), want)

    assert outcome.feasible.tolist() == feasible
    assert outcome.evaluated == evaluated
    assert list(outcome.node_to_status()) == [f"n{row}" for row in range(0, evaluated, 2)]


def test_a_search_in_slices_finds_the_same(world, scripted):
    for number in range(400):
        world.node(f"n{number:03}")
    rejected = {f"n{number:03}" for number in range(400) if number % 3}
    plugin = Scripted("A", filter_node=_node_filter(rejected, unschedulable("a")))

    _, outcome, _ = world.filter(scripted(plugin), world.pod("p"), 60)

    assert outcome.feasible.tolist() == list(range(0, 180, 3))
    assert outcome.evaluated == 180
    assert len(outcome.node_to_status()) == 120


def test_an_error_ends_the_search_at_its_node(world, scripted):
    for name in ("n1", "n2", "n3", "n4"):
        world.node(name)
    first = Scripted("A", filter_node=_node_filter({"n1"}, unschedulable("a")))
    second = Scripted("B", filter_node=_node_filter({"n3"}, as_status("boom")))

    _, outcome, _ = world.filter(scripted(first, second), world.pod("p"))

    assert outcome.error == as_status('running "B" filter plugin: boom').with_failed_plugin("B")
    assert outcome.feasible.tolist() == [1]
    assert outcome.node_to_status() == {"n1": unschedulable("a").with_failed_plugin("A")}


def test_counts_group_rejections_in_order_of_their_first_node(world, scripted):
    for name in ("n1", "n2", "n3"):
        world.node(name)
    first = Scripted("A", filter_node=_node_filter({"n1", "n3"}, unschedulable("a")))
    second = Scripted("B", filter_node=_node_filter({"n2"}, unschedulable("b")))

    _, outcome, _ = world.filter(scripted(first, second), world.pod("p"))

    assert [(status.failed_plugin, number, rows.tolist()) for status, number, rows in outcome.counts()] == [("A", 2, [0, 2]), ("B", 1, [1])]


def test_a_profile_without_filters_takes_the_first_rows(world, scripted):
    for name in ("n1", "n2", "n3"):
        world.node(name)

    _, outcome, _ = world.filter(scripted(), world.pod("p"), 2)

    assert (outcome.feasible.tolist(), outcome.evaluated) == ([0, 1], 2)


# Nominated pods


def test_nominated_pods_of_the_same_or_a_higher_priority_reserve_their_resources(world):
    world.node("n1", {"cpu": "2"})
    world.node("n2", {"cpu": "2"})
    world.nominations.pods["n1"] = [world.pod("waiting", {"cpu": "2"}, priority=5)]
    framework = world.framework()

    assert set(world.rejections(framework, world.pod("low", {"cpu": "1"}, priority=5))) == {"n1"}
    assert world.rejections(framework, world.pod("high", {"cpu": "1"}, priority=6)) == {}


def test_a_pods_own_nomination_does_not_count_against_it(world):
    world.node("n1", {"cpu": "2"})
    pod = world.pod("p", {"cpu": "2"})
    world.nominations.pods["n1"] = [pod]

    assert world.rejections(world.framework(), pod) == {}


# PostFilter


def test_postfilter_stops_at_the_first_success(world, scripted):
    result = PostFilterResult(NominatingInfo(NominatingMode.OVERRIDE, "n1"))
    first, second = Scripted("A", post_filter=(None, unschedulable("a"))), Scripted("B", post_filter=(result, SUCCESS))
    never = Scripted("C", post_filter=(None, SUCCESS))

    outcome = scripted(first, second, never).run_post_filter_plugins(CycleState(), world.pod("p"), {})

    assert (outcome.status, outcome.result) == (SUCCESS, result)
    assert never.calls == []


def test_postfilter_joins_reasons_and_keeps_the_last_result_that_is_not_a_noop(world, scripted):
    cleared = PostFilterResult(NominatingInfo(NominatingMode.OVERRIDE, ""))
    plugins = [
        Scripted("A", post_filter=(cleared, unschedulable("a"))),
        Scripted("B", post_filter=(PostFilterResult(), unschedulable("b", "c"))),
    ]

    outcome = scripted(*plugins).run_post_filter_plugins(CycleState(), world.pod("p"), {})

    assert outcome.status == unschedulable("a", "b", "c").with_failed_plugin("A")
    assert outcome.result == cleared


# Score


def test_scores_are_normalised_weighted_and_summed(world):
    world.node("a", taints=[{"key": "slow", "effect": "PreferNoSchedule"}])
    world.node("b")

    outcome = world.score(world.framework(), world.pod("p", {"cpu": "1", "memory": "2Gi"}))

    by_name = {plugin.name: (plugin.raw.tolist(), plugin.normalized.tolist(), plugin.weighted.tolist()) for plugin in outcome.plugins}
    assert by_name["TaintToleration"] == ([1, 0], [0, 100], [0, 300])
    assert by_name["PodTopologySpread"] == ([0, 0], [100, 100], [200, 200])
    assert by_name["NodeResourcesFit"] == ([75, 75], [75, 75], [75, 75])
    assert by_name["NodeResourcesBalancedAllocation"][0] == [100, 100]
    assert outcome.totals.tolist() == [375, 675]


def test_a_score_out_of_range_is_an_error(world, scripted):
    world.node("n1")
    plugin = Scripted("A", score=lambda _state, _pod, rows: np.full(len(rows), 101, np.int64))

    outcome = world.score(scripted(plugin), world.pod("p"))

    assert outcome.status.message == (
        'applying score defaultWeights on Score plugins: plugin "A" returns an invalid score 101, '
        "it should in the range of [0, 100] after normalizing"
    )


def test_an_error_in_score_is_wrapped(world, scripted):
    world.node("n1")

    outcome = world.score(scripted(Scripted("A", score_node=as_status("boom"))), world.pod("p"))

    assert outcome.status.message == 'running Score plugins: plugin "A" failed with: boom'


# Reserve, Permit, PreBind, Bind


def test_unreserve_runs_backwards(world, scripted):
    plugins = [Scripted(name, reserve=SUCCESS, unreserve=None) for name in "AB"]
    framework = scripted(*plugins)

    assert framework.run_reserve_plugins_unreserve(CycleState(), world.pod("p"), "n1") == ["B", "A"]


def test_an_error_in_reserve_is_wrapped_and_keeps_its_cause(world, scripted):
    plugin = Scripted("A", reserve=as_status(StatusError('nodes "n1" not found', "nodes", "n1")), unreserve=None)

    run = scripted(plugin).run_reserve_plugins_reserve(CycleState(), world.pod("p"), "n1")

    assert run.status.message == 'running Reserve plugin "A": nodes "n1" not found'
    assert run.status.error is not None
    assert run.status.error.is_not_found


def test_a_pod_waits_until_every_plugin_allows_it(world, scripted):
    wait = Status(Code.WAIT)
    framework = scripted(Scripted("A", permit=(wait, 10 * SECOND)), Scripted("B", permit=(wait, 20 * SECOND)))
    pod = world.pod("p")

    run = framework.run_permit_plugins(CycleState(), pod, "n1")
    waiting = framework.waiting_pods.get(pod.uid)
    waiting.allow("A")

    assert run.status == Status(Code.WAIT, ('one or more plugins asked to wait and no plugin rejected pod "p"',))
    assert framework.wait_on_permit(pod) is None
    waiting.allow("B")
    assert framework.wait_on_permit(pod) == SUCCESS
    assert framework.waiting_pods.get(pod.uid) is None


def test_a_pod_that_waits_too_long_is_rejected(world, scripted):
    framework = scripted(Scripted("A", permit=(Status(Code.WAIT), 90 * SECOND)))
    pod = world.pod("p")
    framework.run_permit_plugins(CycleState(), pod, "n1")

    world.now = 89 * SECOND
    assert framework.wait_on_permit(pod) is None
    world.now = 90 * SECOND
    status = framework.wait_on_permit(pod)

    assert status == unschedulable("rejected due to timeout after waiting 1m30s at plugin A").with_failed_plugin("A")


def test_waiting_pods_survive_a_checkpoint(world, scripted):
    framework = scripted(Scripted("A", permit=(Status(Code.WAIT), 5 * SECOND)))
    pod = world.pod("p")
    framework.run_permit_plugins(CycleState(), pod, "n1")

    again = scripted(Scripted("A", permit=(SUCCESS, 0)))
    again.waiting_pods.restore(framework.waiting_pods.to_state(), {pod.uid: pod}.__getitem__)

    assert again.wait_on_permit(pod) is None
    again.waiting_pods.get(pod.uid).reject("A", "no")
    assert again.wait_on_permit(pod) == unschedulable("no").with_failed_plugin("A")


def test_bind_runs_plugins_until_one_does_not_skip(world, scripted):
    pod = world.pod("p")

    failed = scripted(Scripted("A", bind=SKIP), Scripted("B", bind=as_status("boom"))).run_bind_plugins(CycleState(), pod, "n1")
    bound = scripted(Scripted("A", bind=SKIP)).run_bind_plugins(CycleState(), pod, "n1")

    assert failed.status.message == 'running Bind plugin "B": boom'
    assert [answer.plugin for answer in failed.plugin_results] == ["A", "B"]
    assert bound.status == SUCCESS
    assert world.api.bound == [("default/p", "n1")]


def test_an_error_of_the_api_server_is_wrapped(world):
    world.api.error = StatusError('pods "p" not found', "pods", "p")

    run = world.framework().run_bind_plugins(CycleState(), world.pod("p"), "n1")

    assert run.status.message == 'running Bind plugin "DefaultBinder": pods "p" not found'


# Every code at the extension points that the Scripted plugin does not implement

CODES = (Code.SUCCESS, Code.ERROR, Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.WAIT, Code.SKIP)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("point", ["add_pod", "remove_pod"])
def test_a_failure_of_add_pod_or_remove_pod_is_an_error(world, scripted, point, code):
    world.node("n1")
    plugin = Scripted("A", pre_filter=(None, SUCCESS), add_pod=SUCCESS, remove_pod=SUCCESS)
    framework = scripted(plugin)
    setattr(plugin, point, lambda *_args: Status(code, ("why",)))
    run = framework.run_pre_filter_extension_add_pod if point == "add_pod" else framework.run_pre_filter_extension_remove_pod

    status = run(CycleState(), world.pod("p"), world.pod("q"), world.snapshot.get("n1"))

    reason = "%!w(<nil>)" if code in (Code.WAIT, Code.SKIP) else "why"
    name = "AddPod" if point == "add_pod" else "RemovePod"
    assert status == (SUCCESS if code is Code.SUCCESS else as_status(f'running {name} on PreFilter plugin "A": {reason}'))


@pytest.mark.parametrize("code", CODES[1:])
def test_a_result_of_normalize_score_other_than_scores_is_an_error(world, scripted, code):
    world.node("n1")
    framework = scripted(Scripted("A", score_node=1, normalize_score=Status(code, ("why",))))

    status = framework.run_score_plugins(CycleState(), world.pod("p"), world.snapshot.rows()).status

    reason = "%!w(<nil>)" if code in (Code.WAIT, Code.SKIP) else "why"
    assert status == as_status(f'running Normalize on Score plugins: plugin "A" failed with: {reason}')


# Gates


def test_a_gated_pod_does_not_enter_the_queue(world):
    framework = world.framework()

    run = framework.run_pre_enqueue_plugins(world.pod("p", schedulingGates=[{"name": "a"}, {"name": "b"}]))

    assert run.status == unresolvable("waiting for scheduling gates: [a b]").with_failed_plugin("SchedulingGates")
    assert framework.run_pre_enqueue_plugins(world.pod("q")).status == SUCCESS
