"""Expressions that were made to crash the evaluator, to run for ever or to fill the memory. Each ends with an error in the language's own terms."""

from __future__ import annotations

from itertools import pairwise

import pytest

from schedviz.cel import CostLimitError, Environment
from schedviz.cel.errors import MAX_ISSUES, WorkLimitError
from schedviz.cel.types import STRING
from tests.cel.expressions import Expressions

expressions = Expressions(Environment({"text": STRING}), {"text": "x"})
DIGITS = "1" * 5000


def nested(levels: int, grown: str, result: str) -> str:
    """Variables of which each is made of the one before: `grown` and `result` have `{it}` for its name."""
    names = [f"v{level}" for level in range(levels)]
    bound = "".join(f"cel.bind({name}, {grown.format(it=before)}, " for before, name in pairwise(names))
    return f"cel.bind(v0, [0, 0], {bound}{result.format(it=names[-1])}{')' * levels}"


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (f"{DIGITS} == 1", "invalid int literal"),
        (f"{DIGITS}u == 1u", "invalid uint literal"),
        (r'"\U00110000" == "a"', "invalid unicode code point"),
        (r'"\ud800" == "a"', "invalid unicode code point"),
        (r'b"\u0041" == b"A"', "unable to unescape string"),
    ],
)
def test_out_of_range_literals_are_reported(expression: str, message: str) -> None:
    assert expressions.compile_error(expression).startswith(f"ERROR: <input>:1:1: {message}\n")


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (f'uint(["{DIGITS}"][0]) == 1u', "type conversion error from 'string' to 'uint'"),
        (f'semver("{DIGITS}.0.0").major() == 1', f'strconv.ParseUint: parsing "{DIGITS}": value out of range'),
        ("[1][dyn(0.0 / 0.0)] == 1", "unsupported index type 'double' in list"),
        ("[1][dyn(1.0 / 0.0)] == 1", "unsupported index type 'double' in list"),
        ('[dyn("a"), dyn("b")].sum() == 1', "no such overload"),
        ('[dyn([1]), dyn(["a"])].min() == 1', "no such overload"),
        ('[dyn({"a": 1}), dyn({"b": 1})].sort() == [dyn(1)]', "no such overload"),
        (f'"a".matches(["a{{{DIGITS}}}"][0])', f"error parsing regexp: invalid repeat count: `{{{DIGITS}}}`"),
    ],
)
def test_invalid_function_arguments_are_errors_of_the_expression(expression: str, message: str) -> None:
    assert expressions.error(expression) == message


def test_numbers_beyond_those_of_a_double_are_infinite() -> None:
    assert expressions.value('quantity("1e400").asApproximateFloat() == 1.0 / 0.0') is True


def test_nested_repetitions_of_nothing_match_the_empty_text() -> None:
    assert expressions.value('text.matches("^((((){1000}){1000}){1000}){1000}x$")') is True


@pytest.mark.slow
@pytest.mark.parametrize(
    "expression",
    [
        pytest.param(f'lists.range(300).all(i, !("{"a" * 100}".matches("((((a?){{100}}){{10}}){{9}})b")))', id="matches"),
        pytest.param(f'"{"a" * 3000}".findAll("(a{{1,300}}b)|").size() == 1', id="findAll"),
        pytest.param('lists.range(9999).all(i, "a".matches("(a{1000}){1000}" + string(i)) || true)', id="patterns that are too large"),
        pytest.param(nested(26, "{it} + {it}", "{it}.size() == 1"), id="lists that double"),
        pytest.param(nested(28, "[{it}, {it}]", "{it} == {it}"), id="equality of lists that share parts"),
        pytest.param(nested(28, "[{it}, {it}]", "{it} in [{it}]"), id="membership of lists that share parts"),
        pytest.param(nested(28, "[{it}, {it}]", "{it}.flatten(99).size() == 1"), id="flatten"),
        pytest.param(f'cel.bind(a, "{"a" * 1900}", a.replace("a", a).replace("a", a).size() == 1)', id="replace"),
        pytest.param(
            f'cel.bind(a, "{"a" * 1500}", cel.bind(b, a.replace("a", a), lists.range(10000).map(i, b).join().size() == 1))', id="join"
        ),
        pytest.param("lists.range(60000).map(i, i).size() == 1", id="map"),
        pytest.param("lists.range(60000).transformMap(i, v, v).size() == 1", id="transformMap"),
    ],
)
def test_work_that_the_costs_of_the_api_server_do_not_bound_is_stopped(expression: str) -> None:
    with pytest.raises(WorkLimitError, match="goes through too many elements or characters"):
        expressions.value(expression)


def test_no_operator_absorbs_the_error_of_a_stopped_expression() -> None:
    with pytest.raises(CostLimitError):
        expressions.value("lists.range(60000).map(i, i).size() == 1 || true")


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("optional.of(1)" + ".optMap(x, x)" * 40 + ".hasValue()", id="a macro that uses its target twice"),
        pytest.param(nested(28, "{{{it}: {it}}}", "{it} == {it}"), id="types that share parts"),
    ],
)
def test_expressions_whose_types_grow_exponentially_do_not_compile(expression: str) -> None:
    assert expressions.compile_error(expression).startswith("ERROR: <input>:1:1: expression is too complex\n")


def test_only_the_first_problems_of_an_expression_are_shown() -> None:
    assert len(expressions.compile_error("#" * 10_000)) < 30_000

    lines = expressions.compile_error("\n".join("#" * 200)).split("\n")
    assert sum(line.startswith("ERROR") for line in lines) == MAX_ISSUES
    assert lines[-1].endswith("more errors were truncated")
