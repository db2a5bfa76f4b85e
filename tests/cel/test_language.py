"""CEL: values, operators, errors and macros as the specification of the language defines them."""

from __future__ import annotations

import pytest

from schedviz.cel import CostLimitError, Environment
from schedviz.cel.errors import InstantiationError
from schedviz.cel.types import DYN, INT, STRING, map_of
from tests.cel.expressions import Expressions

expressions = Expressions(
    Environment({"text": STRING, "number": INT, "any": DYN, "map": map_of(STRING, DYN)}),
    {"text": "träger", "number": 7, "any": {"a": 1, "list": (1, 2)}, "map": {"a": 1, "b": "x"}},
)


@pytest.mark.parametrize(
    "expression",
    [
        # Numbers are compared by amount; other types are never equal to each other.
        "dyn(1) == 1.0 && dyn(1u) == 1 && 2 > 1.5 && 1 <= 1u && dyn(1) != dyn('1') && dyn(true) != dyn(1)",
        "1 + 2 * 3 == 7 && (1 + 2) * 3 == 9 && 7 - 2 - 1 == 4",
        "-7 / 2 == -3 && -7 % 2 == -1 && 7.0 / 2.0 == 3.5",
        "!!true && --1 == 1 && !(1 > 2)",
        "0x1F == 31 && 1e3 == 1000.0 && .5 == 0.5",
        "'a' + \"b\" == 'ab' && r'\\n' == '\\\\n' && '\\u00e9' == 'é' && '''a\nb'''.size() == 3",
        "b'\\xff'.size() == 1 && b'é'.size() == 2 && string(b'abc') == 'abc'",
        "text.size() == 6 && size(text) == 6 && text.startsWith('tr') && text.endsWith('er') && text.contains('äg')",
        "[1, 2] + [3] == [1, 2, 3] && [1, 2][1] == 2 && 2 in [1, 2] && !(3 in [1, 2])",
        "{'a': 1, 'b': 2}['b'] == 2 && {'a': 1}.a == 1 && 'a' in {'a': 1} && {1: 'x'}[1] == 'x'",
        "number > 5 ? text == 'träger' : false",
        "type(1) == int && type('a') == string && type([]) == list && type(null) == null_type",
        "int('42') == 42 && string(1.5) == '1.5' && double('2') == 2.0 && bool('true') && uint(3) == 3u && string(true) == 'true'",
        "any.a == 1 && any.list[0] == 1 && any['list'].size() == 2",
        # Macros.
        "has(map.a) && !has(map.c)",
        "[1, 2, 3].all(x, x > 0) && [1, 2].exists(x, x == 2) && [1, 2, 2].exists_one(x, x == 1) && ![2, 2].existsOne(x, x == 2)",
        "[1, 2, 3].map(x, x * 2) == [2, 4, 6] && [1, 2, 3].map(x, x > 1, x * 2) == [4, 6] && [1, 2, 3].filter(x, x > 1) == [2, 3]",
        # What is no map has no fields, and what cannot be a key is in no map.
        "!has(any.a.b) && !any.a.?b.hasValue() && !(dyn([1]) in {'a': 1})",
        # A value that is not optional is taken for itself.
        "any.a.orValue(2) == 1",
        "{'a': 1, 'b': 2}.all(k, k in ['a', 'b']) && {'a': 1}.exists(k, v, k == 'a' && v == 1) && [5, 6].all(i, v, v == i + 5)",
        "[1, 2].transformList(i, v, i + v) == [1, 3] && {'a': 1}.transformMap(k, v, v + 1) == {'a': 2}",
        "cel.bind(x, number * 2, x + x) == 28",
        "[[1], [2]].all(x, x.all(y, y > 0)) && [1].all(x, [2].all(x, x == 2) && x == 1)",
        # Optional values.
        "map.?a.hasValue() && !map.?c.hasValue() && map.?c.orValue(5) == 5 && map[?'a'].value() == 1 && [1][?3].orValue(0) == 0",
        "any.?a.optMap(x, x + 1).value() == 2 && any.?z.or(any.?a).value() == 1 && any.?z.?deep.orValue('none') == 'none'",
        "[?map.?a, ?map.?c].size() == 1 && {?'k': map.?c}.size() == 0",
        # An operator ignores an error of one side if the other side decides.
        "false && 1 / 0 > 0 ? false : true",
        "1 / 0 > 0 || true",
        "![1, 0].all(x, 1 / x > 5) && [0, 1].exists(x, 1 / x == 1)",
        # The last of equal keys counts.
        "{'a': 1, 'a': 2}.a == 2 && {'a': 1, 'a': 2}.size() == 1",
        # Strings, lists, sets, regular expressions.
        "'a,b'.split(',') == ['a', 'b'] && ['a', 'b'].join('-') == 'a-b' && 'Ab'.lowerAscii() == 'ab' && 'abc'.substring(1, 2) == 'b'",
        "'tacocat'.indexOf('c') == 2 && 'tacocat'.lastIndexOf('c') == 4 && ' a '.trim() == 'a' && 'aa'.replace('a', 'b', 1) == 'ba'",
        "'abc'.indexOf('a', 9) == -1 && 'abc'.lastIndexOf('a', 9) == -1 && 'abc'.lastIndexOf('a', 2) == 0",
        "[3, 1].min() == 1 && [3, 1].max() == 3 && [3, 1].sum() == 4 && ![3, 1].isSorted() && [3, 1].sort() == [1, 3]",
        "[[1], [2, 3]].flatten() == [1, 2, 3] && [1, 1].distinct() == [1] && [1, 2, 3].slice(1, 2) == [2] && [1, 2].reverse() == [2, 1]",
        "sets.contains([1, 2], [2]) && sets.equivalent([1, 2], [2, 1, 1]) && sets.intersects([1], [1, 5])",
        "'hello'.matches('^h.*o$') && 'a12b3'.find('[0-9]+') == '12' && 'a12b3'.findAll('[0-9]+') == ['12', '3']",
    ],
)
def test_operators_and_macros_follow_the_specification(expression: str) -> None:
    assert expressions.value(expression) is True


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("map.c", "no such key: c"),
        ("[1][3]", "index out of bounds: 3"),
        ("1 / 0", "division by zero"),
        ("1 % 0", "modulus by zero"),
        ("9223372036854775807 + 1", "integer overflow"),
        ("0u - 1u", "unsigned integer overflow"),
        ("dyn('a') + 1", "no such overload"),
        ("dyn(true) - 1", "no such overload: _-_"),
        ("dyn(1) < 'a'", "no such overload"),
        ("dyn(null) < 'a'", "no such overload: _<_"),
        ("-dyn([1]) == 1", "no such overload: -_"),
        ("!dyn(1)", "no such overload"),
        ("dyn(1) && true", "no such overload"),
        ("1 in dyn('a')", "no such overload"),
        ("dyn(1).startsWith('a')", "no such overload"),
        ("size(dyn(1)) == 1", "no such overload: size"),
        ("any.a.b == 1", "no such key: b"),
        ("dyn([1]).join() == ''", "no such overload: join(list)"),
        ("dyn([1]).join('-') == ''", "no such overload: join(list, string)"),
        ("text.matches('x') ? 1 : int(text)", "type conversion error from 'string' to 'int'"),
        ("double(text + '1e400') == 1.0", "type conversion error from 'string' to 'double'"),
        ("map.b.all(x, true)", "got 'types.String', expected iterable type"),
        ("map.?c.value()", "optional.none() dereference"),
        ("'a'.matches(['('][0])", "error parsing regexp: missing closing ): `(`"),
    ],
)
def test_an_evaluation_fails_with_the_message_of_cel_go(expression: str, message: str) -> None:
    assert expressions.error(expression) == message


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("1 + 'a'", "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n | 1 + 'a'\n | ..^"),
        ("nosuch", "ERROR: <input>:1:1: undeclared reference to 'nosuch' (in container '')\n | nosuch\n | ^"),
        ("f(1)", "ERROR: <input>:1:2: undeclared reference to 'f' (in container '')\n | f(1)\n | .^"),
        (
            "text.size(1)",
            "ERROR: <input>:1:10: found no matching overload for 'size' applied to 'string.(int)'\n | text.size(1)\n | .........^",
        ),
        ("text.field", "ERROR: <input>:1:5: type 'string' does not support field selection\n | text.field\n | ....^"),
        ("[1, 'a']", "ERROR: <input>:1:5: expected type 'int' but found 'string'\n | [1, 'a']\n | ....^"),
        ("1 && true", "ERROR: <input>:1:1: expected type 'bool' but found 'int'\n | 1 && true\n | ^"),
        ("has(text)", "ERROR: <input>:1:5: invalid argument to has() macro\n | has(text)\n | ....^"),
        ("[1].all(x.y, true)", "ERROR: <input>:1:10: argument must be a simple name\n | [1].all(x.y, true)\n | .........^"),
        ("true\n&& nosuch", "ERROR: <input>:2:4: undeclared reference to 'nosuch' (in container '')\n | && nosuch\n | ...^"),
        ("9223372036854775808", "ERROR: <input>:1:1: invalid int literal\n | 9223372036854775808\n | ^"),
        (
            "text.",
            "ERROR: <input>:1:6: Syntax error: mismatched input '<EOF>' expecting {'?', IDENTIFIER, ESC_IDENTIFIER}\n | text.\n | .....^",
        ),
    ],
)
def test_compile_errors_are_shown_with_their_place(expression: str, message: str) -> None:
    assert expressions.compile_error(expression) == message


def test_a_missing_operand_is_reported_as_the_api_server_reports_it() -> None:
    expected = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"

    assert expressions.compile_error("1 +").startswith(f"ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {expected}\n")


@pytest.mark.parametrize(
    ("expression", "place", "expected", "found"),
    [
        ("[dyn(1), 2].size() == 2", 10, "dyn", "int"),
        ("[2, any].size() == 2", 5, "int", "dyn"),
        ("{'a': any, 'b': 1}.size() == 2", 17, "dyn", "int"),
        ("text in ['a', any]", 15, "string", "dyn"),
    ],
)
def test_the_elements_of_a_literal_have_one_type(expression: str, place: int, expected: str, found: str) -> None:
    message = expressions.compile_error(expression)

    assert message.startswith(f"ERROR: <input>:1:{place}: expected type '{expected}' but found '{found}'\n")


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("int('x') == 1 || true", "type conversion error from 'string' to 'int'"),
        ("number == int(string('x'))", "type conversion error from 'string' to 'int'"),
        ("int(dyn(['x'])) == 1", "no such overload: int(list)"),
        ("int(dyn(int)) == 1", "no such overload: int(type)"),
        ("text.matches(string('('))", "error parsing regexp: missing closing ): `(`"),
        ("text.find('(') == ''", "error parsing regexp: missing closing ): `(`"),
        ("text.findAll('(', 1).size() == 1", "error parsing regexp: missing closing ): `(`"),
    ],
)
def test_operations_on_constants_fail_before_the_evaluation(expression: str, message: str) -> None:
    with pytest.raises(InstantiationError) as caught:
        expressions.environment.compile(expression)
    assert str(caught.value) == message


def test_variables_of_loops_hide_types() -> None:
    assert expressions.value("['7'].exists(int, string(int) == '7')") is True


def test_constants_cost_nothing() -> None:
    program = expressions.environment.compile("[1, 2].size() == int('2')")

    assert program.evaluate({}, cost_limit=100) == (True, 2)


def test_wide_characters_have_a_wide_position_marker() -> None:
    assert expressions.compile_error("'é' + nosuch").split("\n")[1:] == [" | 'é' + nosuch", " | .\uff0e....^"]


def test_only_lists_and_maps_can_be_iterated() -> None:
    expected = "ERROR: <input>:1:1: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)"

    assert expressions.compile_error("number.all(x, true)").split("\n")[0] == expected


def test_all_problems_of_an_expression_are_reported_in_order() -> None:
    lines = expressions.compile_error("b + a").split("\n")

    assert [line for line in lines if line.startswith("ERROR")] == [
        "ERROR: <input>:1:1: undeclared reference to 'b' (in container '')",
        "ERROR: <input>:1:5: undeclared reference to 'a' (in container '')",
    ]


def test_an_expression_that_costs_too_much_is_stopped() -> None:
    ten = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
    program = expressions.environment.compile(f"{ten}.all(x, {ten}.all(y, {ten}.all(z, {ten}.all(w, x + y + z + w > 0))))")

    with pytest.raises(CostLimitError, match="operation cancelled: actual cost limit exceeded"):
        program.evaluate(expressions.variables, cost_limit=10_000)


def test_a_cost_is_one_for_each_step_and_a_tenth_for_each_compared_character() -> None:
    program = expressions.environment.compile("map.b == 'a text of 20 letters'")

    assert program.evaluate({"map": {"b": "a text of 20 letters"}}, cost_limit=100) == (True, 4)


def test_long_conditions_are_evaluated() -> None:
    assert expressions.value(" || ".join(["number == 0"] * 500 + ["number == 7"])) is True


def test_deep_nesting_is_rejected_instead_of_exhausting_the_stack() -> None:
    assert "expression recursion limit exceeded: 250" in expressions.compile_error("(" * 500 + "1" + ")" * 500)


@pytest.mark.parametrize(
    ("expression", "errors"),
    [
        ("number = 7", ["1:8: Syntax error: token recognition error at: '= '", "1:10: Syntax error: extraneous input '7' expecting <EOF>"]),
        ("number == 7 and true", ["1:13: Syntax error: mismatched input 'and' expecting <EOF>"]),
        ("(number == 7", ["1:13: Syntax error: missing ')' at '<EOF>'"]),
        ("((number", ["1:9: Syntax error: mismatched input '<EOF>' expecting ')'"]),
        ("(number 7)", ["1:9: Syntax error: extraneous input '7' expecting ')'"]),
        ("[number", ["1:8: Syntax error: mismatched input '<EOF>' expecting {']', ','}"]),
        ("true ? 1 2", ["1:10: Syntax error: missing ':' at '2'"]),
        ("number === 7", ["1:10: Syntax error: token recognition error at: '= '"]),
        (
            r"text == 'a\d'",
            [r"1:9: Syntax error: token recognition error at: ''a\d'", "1:13: Syntax error: token recognition error at: '''"],
        ),
    ],
)
def test_frequent_mistakes_have_the_messages_of_cel_go(expression: str, errors: list[str]) -> None:
    lines = [line for line in expressions.compile_error(expression).split("\n") if line.startswith("ERROR")]
    assert lines[: len(errors)] == [f"ERROR: <input>:{error}" for error in errors]
