"""The grammar of breakpoints: trees, and errors with their column."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedviz.trace.breakpoint_grammar import MAX_LENGTH, BreakpointError, parse
from schedviz.trace.breakpoint_tree import And, Compare, HintReturned, NodeChanged, Not, Or, Popped, Reached, StatusReturned, Tree, test_of
from schedviz.trace.events import ClockAdvanced
from tests.trace.stories import create, events_of, node, pod

test_of.__test__ = False  # type: ignore[attr-defined]

SENTENCE = 'popped node status pod hint for Queue reached by at and or not in matches ( ) [ ] , . == > "a" 3 true x default/*'
WORDS = SENTENCE.split()
QUEUES = {"activeQ": "activeQ", "backoffQ": "backoffQ", "errorBackoffQ": "errorBackoffQ", "unschedulable": "unschedulablePods"}


def written(tree: Tree) -> str:
    """A breakpoint as text."""
    match tree:
        case Popped():
            return f"popped {json.dumps(tree.pod)}"
        case NodeChanged():
            return f"node {json.dumps(tree.node)} changed"
        case StatusReturned():
            return f"status {json.dumps(tree.code)} by {json.dumps(tree.plugin)} at {json.dumps(tree.stage)}"
        case Reached():
            return f"pod {json.dumps(tree.pod)} reached {QUEUES[tree.queue]}"
        case HintReturned():
            return f"hint {tree.hint} by {json.dumps(tree.plugin)} for {json.dumps(tree.pod)}"
        case Compare(operator="in"):
            return f"{'.'.join(tree.field)} in [{', '.join(map(json.dumps, tree.value))}]"  # type: ignore[arg-type]
        case Compare():
            return f"{'.'.join(tree.field)} {tree.operator} {json.dumps(tree.value)}"
        case Not():
            return f"not ({written(tree.operand)})"
        case And():
            return " and ".join(f"({written(operand)})" for operand in tree.operands)
    return " or ".join(f"({written(operand)})" for operand in tree.operands)


names = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=8)
fields = (
    st.lists(st.sampled_from(["cause", "cycle", "node", "pod", "status", "moves", "facts", "outcome"]), min_size=1, max_size=3)
    .filter(lambda path: path[0] != "status")
    .map(tuple)
)
numbers = st.integers(-1000, 1000) | st.floats(-1e6, 1e6).map(lambda number: round(number, 3))
literals = names | numbers | st.booleans() | st.none()
leaves = (
    st.builds(Popped, names)
    | st.builds(NodeChanged, names)
    | st.builds(StatusReturned, st.sampled_from(["Error", "Unschedulable*", "Skip"]), names, names)
    | st.builds(Reached, names, st.sampled_from(sorted(QUEUES)))
    | st.builds(HintReturned, st.sampled_from(["Queue", "QueueSkip"]), names, names)
    | st.builds(Compare, fields, st.sampled_from(["==", "!="]), literals)
    | st.builds(Compare, fields, st.sampled_from(["<", "<=", ">", ">="]), names | numbers)
    | st.builds(Compare, fields, st.just("in"), st.lists(literals, min_size=1, max_size=3).map(tuple))
    | st.builds(Compare, fields, st.just("matches"), names)
)
trees = st.recursive(
    leaves,
    lambda inner: (
        st.builds(Not, inner)
        | st.builds(And, st.lists(inner, min_size=2, max_size=3).map(tuple))
        | st.builds(Or, st.lists(inner, min_size=2, max_size=3).map(tuple))
    ),
    max_leaves=4,
)


@given(trees.filter(lambda tree: len(written(tree)) <= MAX_LENGTH and "e-" not in written(tree) and "e+" not in written(tree)))
def test_a_printed_tree_parses_to_the_same_tree(tree: Tree) -> None:
    assert parse(written(tree)) == tree


@given(st.text(max_size=60) | st.lists(st.sampled_from(WORDS)).map(" ".join))
@settings(max_examples=400)
def test_any_text_gives_a_tree_or_an_error_with_a_column(text: str) -> None:
    try:
        tree = parse(text)
    except BreakpointError as error:
        assert 1 <= error.column <= max(len(text), 1) + 1  # noqa: PT017
        assert str(error).startswith(f"column {error.column}: ")  # noqa: PT017
    else:
        test_of(tree)(ClockAdvanced(event=1, at=0.0))


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("popped", 7, 'expected a name or a "text", found the end'),
        ("popped default/web and", 23, "found the end"),
        ("t = 3", 3, 'found "="'),
        ("pod x reached somewhere", 15, "expected activeQ, backoffQ, errorBackoffQ or unschedulablePods, found somewhere"),
        ("cuase == 3", 1, "there is no member of events 'cuase'; did you mean cause?"),
        ('t == "queuMoved"', 6, "did you mean queueMoved?"),
        ("status Eror by X", 8, "there is no status 'Eror'; did you mean Error?"),
        ("hint Queu for x", 6, "there is no hint 'Queu'; did you mean Queue?"),
        ("cycle > true", 9, "> compares numbers and texts, not true"),
        ("(cycle > 1", 11, "expected ), found the end"),
        ("", 1, "expected popped"),
        ("x" * 501, 501, "at most 500 characters"),
        ("(" * 200, 51, "more than 50 parentheses are open"),
        ("not " * 100 + "cycle > 1", 1, "at most 50 `not`s"),
    ],
)
def test_an_error_has_its_column(text: str, column: int, message: str) -> None:
    with pytest.raises(BreakpointError, match="column") as caught:
        parse(text)

    assert (caught.value.column, message in str(caught.value)) == (column, True), str(caught.value)


RUN = (
    create(node("node1")),
    create(node("node2", cpu="1")),
    create(pod("web", cpu="2")),
    create(pod("big", cpu="9")),
    {"op": "run"},
)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("popped default/web", {"queueMoved"}),
        ("popped default/nobody", set()),
        ("node node1 changed", {"cacheNode", "cachePod"}),
        ("node node2 changed", {"cacheNode"}),
        ("status Unschedulable by NodeResourcesFit at Filter", {"stageEnded"}),
        ("status Error", set()),
        ("status Pending", set()),
        ("pod default/* reached unschedulablePods", {"queueMoved"}),
        ("pod default/web reached unschedulablePods", set()),
        ('outcome == "unschedulable"', {"cycleEnded"}),
        ('t == "cycleEnded" and not outcome == "scheduled"', {"cycleEnded"}),
        ("rejections.nodes >= 2", {"stageEnded"}),
        ('facts.node in ["node1", "node9"] and stage != "Bind"', {"stageEnded"}),
        ('moves.entry.pod matches "*/b?g"', {"queueMoved"}),
        ("nowhere.inside == 1", None),
        ("facts.nowhere.inside != 1", set()),
        ("bySchedule == true", None),
        ('byScheduler == true and verb == "create"', {"apiWritten"}),
    ],
)
def test_breakpoints_match_events_of_a_run(text: str, kinds: set[str] | None) -> None:
    if kinds is None:
        with pytest.raises(BreakpointError):
            parse(text)
        return
    test = test_of(parse(text))

    assert {str(type(event).__struct_config__.tag) for event in events_of(*RUN) if test(event)} == kinds


HINTED = (
    create(node("node1", cpu="1")),
    create(pod("big", cpu="9")),
    {"op": "run"},
    create(node("node2", cpu="2")),
    create(node("node3", cpu="16")),
    # activeQ is empty, and the pod's backoff has not ended.
    {"op": "run"},
)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("hint Queue", ["NodeAdd"]),
        ("hint QueueSkip by NodeResourcesFit for default/big", ["NodeAdd"]),
        ("hint QueueSkip by TaintToleration", []),
        ("hint Queue for default/other", []),
        ("popped default/big", ["Pop", "PopFromBackoffQ"]),
        ("pod * reached errorBackoffQ", []),
        ('decisions.hints.hint == "Queue" and eventLabel == "NodeAdd"', ["NodeAdd"]),
    ],
)
def test_breakpoints_match_hints_and_pops_of_v1_36(text: str, labels: list[str]) -> None:
    test = test_of(parse(text))
    matched = [event for event in events_of(*HINTED, release="v1.36") if test(event)]

    assert [getattr(event, "event_label", None) or getattr(event, "cause", "") for event in matched] == labels


def test_patterns_match_in_linear_time() -> None:
    test = test_of(parse(f"popped {'a*' * 200}b"))

    assert not any(test(event) for event in events_of(create(node("node1")), create(pod("a" * 200)), {"op": "run"}))
