"""A user's plugin that raises, returns invalid answers or cannot be stored gives Status Error with its name, and nothing else fails."""

import msgspec
import numpy as np
import pytest

from schedviz.engine.framework.cycle_state import CycleState, StateKey
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.runtime import PluginListsError
from schedviz.engine.framework.runtime.user_plugin_guard import GuardedPlugin
from schedviz.engine.framework.status import SUCCESS, Code, Status, unschedulable
from schedviz.engine.framework.types import Generations, NodeInfo
from schedviz.engine.framework.verdicts import Verdicts
from schedviz.engine.releases.v1_27_plugins import in_tree_registry


class Note(msgspec.Struct):
    text: object = ""

    def clone(self):
        return self


class Uncloned(msgspec.Struct):
    text: str = ""


NOTE = StateKey("test/note", Note)
UNCLONED = StateKey("test/uncloned", Uncloned)


def _raise(error):
    raise error


def _writes(key, data):
    def pre_filter(state, _pod, _snapshot):
        state.write(key, data)
        return None, SUCCESS

    return pre_filter


class Bad:
    def __init__(self, **answers):
        for point, answer in answers.items():
            setattr(self, point, answer if callable(answer) else lambda *_args, answer=answer: answer)


@pytest.fixture
def framework_with(world):
    def make(**answers):
        for name in ("n1", "n2"):
            world.node(name)
        world.update()
        entries = [{"name": name} for name in ("PrioritySort", "Bad", "DefaultBinder")]
        config = {"profiles": [{"plugins": {"multiPoint": {"enabled": entries, "disabled": [{"name": "*"}]}}}]}
        registry = {**in_tree_registry(), "Bad": lambda _args, _handle: GuardedPlugin("Bad", Bad(**answers))}
        return world.framework(config, registry)

    return make


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"filter_node": lambda *_: _raise(KeyError("zone"))}, "KeyError: 'zone'"),
        ({"filter_node": None}, "expected a Status, found None"),
        ({"filter_node": "yes"}, "expected a Status, found 'yes'"),
        ({"filter_node": Status(Code.UNSCHEDULABLE, "a reason")}, "expected a Status with a Code, a tuple of reasons"),
        ({"filter_node": Status(Code.UNSCHEDULABLE, ["a"])}, "expected a Status with a Code, a tuple of reasons"),
        ({"filter": lambda *_: _raise(ValueError("boom"))}, "ValueError: boom"),
        ({"filter": 3}, "expected Verdicts, found 3"),
        ({"filter": Verdicts.all(1, unschedulable("x"))}, "expected verdicts for 2 nodes, found 1"),
        ({"filter": Verdicts(np.array([0, 7]), (SUCCESS,))}, "expected codes from 0 to 0"),
        ({"filter": Verdicts(np.array([0, 1]), (unschedulable("x"), SUCCESS))}, "expected Success as the first of the statuses"),
    ],
)
def test_an_invalid_result_of_filter_is_an_error(world, framework_with, answers, message):
    framework = framework_with(**answers)

    verdicts = framework.run_filter_plugins(CycleState(), world.pod("p"), world.snapshot.rows())

    status = next(verdicts[row] for row in range(2) if not verdicts[row].is_success)
    assert (status.code, status.failed_plugin) == (Code.ERROR, "Bad")
    assert status.message.startswith(f'running "Bad" filter plugin: {message}')


def test_every_node_can_have_its_own_status(world, framework_with):
    guarded = framework_with(filter_node=lambda _state, _pod, info: unschedulable(f"reason {info.name}")).plugins.by_name["Bad"]
    count = 2**15 + 10
    rows = Rows.of([NodeInfo(str(number), Generations()) for number in range(count)])
    by_row = guarded.filter(CycleState(), world.pod("p"), rows)
    many = framework_with(filter=lambda *_: Verdicts(np.arange(1, count + 1), (SUCCESS, *by_row.statuses[1:]))).plugins.by_name["Bad"]

    assert by_row[count - 1].reasons == many.filter(CycleState(), world.pod("p"), rows)[count - 1].reasons == (f"reason {count - 1}",)


def test_filter_fails_for_the_node_at_which_the_plugin_raises(world, framework_with):
    framework = framework_with(filter_node=lambda _state, _pod, info: _raise(ValueError("boom")) if info.name == "n2" else SUCCESS)

    verdicts = framework.run_filter_plugins(CycleState(), world.pod("p"), world.snapshot.rows())

    assert sorted(status.code for status in (verdicts[0], verdicts[1])) == ["Error", "Success"]


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"score_node": lambda *_: _raise(ZeroDivisionError())}, "ZeroDivisionError"),
        ({"score_node": None}, "expected whole numbers, one for each node, found None"),
        ({"score_node": 0.5}, "expected whole numbers, one for each node, found 0.5"),
        ({"score_node": 10**30}, "expected whole numbers, one for each node, found numbers too large"),
        ({"score_node": Status(Code.ERROR, ("no data",))}, "no data"),
        ({"score": np.zeros(3, np.int64)}, "expected 2 scores, found 3"),
        ({"score": np.zeros(2)}, "expected whole numbers, one for each node, found an array of float64"),
        ({"score": SUCCESS}, "expected scores, found Success"),
    ],
)
def test_an_invalid_result_of_score_is_an_error(world, framework_with, answers, message):
    outcome = framework_with(**answers).run_score_plugins(CycleState(), world.pod("p"), world.snapshot.rows())

    assert outcome.status.message == f'running Score plugins: plugin "Bad" failed with: {message}'


def test_a_score_out_of_range_is_upstreams_error(world, framework_with):
    outcome = framework_with(score_node=101).run_score_plugins(CycleState(), world.pod("p"), world.snapshot.rows())

    assert 'plugin "Bad" returns an invalid score 101' in outcome.status.message


def test_too_few_normalized_scores_are_an_error(world, framework_with):
    framework = framework_with(score_node=1, normalize_score=lambda _state, _pod, scores: scores[:1])

    outcome = framework.run_score_plugins(CycleState(), world.pod("p"), world.snapshot.rows())

    assert outcome.status.message == 'running Normalize on Score plugins: plugin "Bad" failed with: expected 2 scores, found 1'


@pytest.mark.parametrize(
    ("answers", "run", "message"),
    [
        ({"reserve": 1, "unreserve": None}, "run_reserve_plugins_reserve", 'running Reserve plugin "Bad": expected a Status, found 1'),
        (
            {"permit": SUCCESS},
            "run_permit_plugins",
            'running Permit plugin "Bad": expected a Status and a timeout in nanoseconds, found Status',
        ),
        (
            {"permit": (SUCCESS, 1.5)},
            "run_permit_plugins",
            'running Permit plugin "Bad": expected a timeout in whole nanoseconds, found 1.5',
        ),
        ({"pre_bind": None}, "run_pre_bind_plugins", 'running PreBind plugin "Bad": expected a Status, found None'),
        ({"bind": lambda *_: _raise(OSError("gone"))}, "run_bind_plugins", 'running Bind plugin "Bad": OSError: gone'),
    ],
)
def test_an_exception_after_the_node_is_selected_is_an_error(world, framework_with, answers, run, message):
    outcome = getattr(framework_with(**answers), run)(CycleState(), world.pod("p"), "n1")

    assert (outcome.status.code, outcome.status.message) == (Code.ERROR, message)


def test_unreserve_and_post_bind_cannot_fail(world, framework_with, caplog):
    framework = framework_with(reserve=SUCCESS, unreserve=lambda *_: _raise(ValueError("a")), post_bind=lambda *_: _raise(ValueError("b")))

    framework.run_reserve_plugins_unreserve(CycleState(), world.pod("p"), "n1")
    framework.run_post_bind_plugins(CycleState(), world.pod("p"), "n1")

    assert [record.getMessage() for record in caplog.records] == [
        "plugin Bad failed in unreserve: ValueError: a",
        "plugin Bad failed in post_bind: ValueError: b",
    ]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda *_: _raise(ValueError("boom")), "ValueError: boom"),
        (SUCCESS, "expected a PreFilterResult (or None) and a Status, found Status"),
        (({"n1"}, SUCCESS), "expected a PreFilterResult with a frozenset of names of nodes, or None"),
        (_writes(NOTE, Note(object())), 'what was written to CycleState as "test/note" cannot be stored: '),
        (_writes(NOTE, 7), 'what was written to CycleState as "test/note" cannot be stored: expected Note, found int'),
        (
            _writes(UNCLONED, Uncloned("a")),
            'what was written to CycleState as "test/uncloned" cannot be stored: Uncloned has no method clone',
        ),
    ],
)
def test_an_invalid_result_of_pre_filter_is_an_error_and_its_data_is_dropped(world, framework_with, answer, message):
    state = CycleState()

    outcome = framework_with(pre_filter=answer).run_pre_filter_plugins(state, world.pod("p"))

    assert outcome.status.code is Code.ERROR
    assert outcome.status.message.startswith(f'running PreFilter plugin "Bad": {message}')
    assert state.to_state()["data"] == {}


def test_state_that_can_be_stored_is_kept(world, framework_with):
    state = CycleState()

    outcome = framework_with(pre_filter=_writes(NOTE, Note("a"))).run_pre_filter_plugins(state, world.pod("p"))

    assert outcome.status.is_success
    assert CycleState.from_state(state.to_state()).read(NOTE).text == "a"


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"less": True}, "cannot sort the queue"),
        ({"colour": 1}, "it has no method of an extension point"),
        ({"filter_node": SUCCESS, "events_to_register": ["Node"]}, "returned something that is no ClusterEvent"),
        ({"reserve": SUCCESS}, "it has reserve without unreserve, so reserve would never be used; add unreserve"),
        ({"unreserve": None}, "unreserve without reserve"),
        ({"pre_filter": (None, SUCCESS), "add_pod": SUCCESS}, "add_pod without remove_pod"),
        ({"pre_filter": (None, SUCCESS), "remove_pod": SUCCESS}, "remove_pod without add_pod"),
        ({"filter_node": SUCCESS, "add_pod": SUCCESS, "remove_pod": SUCCESS}, "add_pod without pre_filter"),
        ({"filter_node": SUCCESS, "normalize_score": lambda *_: []}, "normalize_score without score or score_node"),
        ({"filter_node": SUCCESS, "object_changed": None}, "object_changed without watched_kinds"),
        ({"filter_node": SUCCESS, "to_state": {}}, "to_state without load"),
    ],
)
def test_an_unusable_plugin_is_rejected(framework_with, answers, message):
    with pytest.raises(PluginListsError, match=message):
        framework_with(**answers)
