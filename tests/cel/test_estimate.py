"""The worst-case cost of selectors, with the numbers that upstream's own table has."""

from __future__ import annotations

import pytest

from schedviz.cel import Environment
from schedviz.cel.device_selectors import MAX_COST, refusal, worst_cost
from schedviz.cel.estimate import UNLIMITED

ATTRIBUTE = 'device.attributes["dra.example.com"].name'


@pytest.mark.parametrize(
    ("expression", "cost"),
    [
        ("true", 0),
        ('"no-such-domain" in device.attributes', 3),
        ('device.driver == ""', 2),
        ('device.driver == "dra.example.com"', 4),
        (ATTRIBUTE, 4),
        ('cel.bind(dra, device.attributes["dra.example.com"], dra.name)', 15),
        (f"{ATTRIBUTE} > 0", 5),
        (f'{ATTRIBUTE} == "fish"', 5),
        ('device.attributes["no-such-domain"].noSuchAttr.isGreaterThan(quantity("0"))', 6),
    ],
)
def test_the_estimate_of_a_selector_is_upstreams(expression: str, cost: int) -> None:
    assert worst_cost(expression) == cost


@pytest.mark.parametrize(
    ("expression", "cost"),
    [(f"{ATTRIBUTE}.exists(x, x > 0)", 5 + 6 * 64), (f'{ATTRIBUTE}.all(x, x != "")', 5 + 4 * 64), (f"{ATTRIBUTE}.includes(1)", 4 + 48)],
)
def test_loops_over_list_attributes_cost_their_largest_length(expression: str, cost: int) -> None:
    assert worst_cost(expression, list_type_attributes=True) == cost


@pytest.mark.parametrize(
    ("expression", "cost"),
    [
        ("'ABCDEFGHIJ abcdefghij'.lowerAscii() == 'abcdefghij ABCDEFGHIJ'.lowerAscii()", 9),
        ("'abc 123 def 123'.split(' ', 1)", 3),
        ("'abc 123 def 123'.find('123')", 2),
        ("sets.equivalent([1, 2, 3], [3, 2, 1])", 39),
        ("{'a': 1, 'b': 2}.transformMapEntry(k, v, v < 5, {k: v + 1})", 135),
    ],
)
def test_functions_cost_what_they_cost_upstream(expression: str, cost: int) -> None:
    assert Environment({}).worst_cost(expression, lambda _: None) == cost


def test_sizes_without_a_limit_have_unlimited_cost() -> None:
    assert worst_cost('device.capacity["d"].memory.compareTo(quantity("1")) == 0') < UNLIMITED
    assert Environment({}).worst_cost("lists.range(3).map(x, lists.range(x)).map(y, y.sum()) == []", lambda _: None) == UNLIMITED


def test_a_selector_is_rejected_as_the_api_server_refuses_it() -> None:
    assert refusal("true") == ""
    assert refusal("1") == 'Invalid value: "1": must evaluate to bool or the unknown type, not int'
    assert refusal("nobody").startswith(
        "Invalid value: \"nobody\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'nobody'"
    )
    assert refusal(f"true || '{'x' * 10_240}' == ''") == "Too long: may not be more than 10240 bytes"
    nested = "device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, device.attributes.all(d, true))))"
    assert worst_cost(nested) > MAX_COST
    assert refusal(nested) == "Forbidden: too complex, exceeds cost limit"
