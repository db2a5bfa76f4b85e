"""Responses of extenders that Go's decoder refuses, with its messages."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from schedviz.engine.extenders import wire
from schedviz.engine.extenders.json_syntax import MAX_DEPTH, why_invalid


@pytest.mark.parametrize(
    ("read", "body", "expected"),
    [
        (wire.filter_result, b"true", "bool into Go value of type v1.ExtenderFilterResult"),
        (wire.filter_result, b'{"nodenames": "a"}', "string into Go struct field ExtenderFilterResult.NodeNames of type []string"),
        (wire.filter_result, b'{"NodeNames": [1.5]}', "number into Go struct field ExtenderFilterResult.NodeNames of type string"),
        (wire.filter_result, b'{"Nodes": {"items": [[]]}}', "array into Go struct field NodeList.Nodes.items of type v1.Node"),
        (
            wire.filter_result,
            b'{"Nodes": {"items": [{"metadata": {"name": 2}}]}}',
            "number into Go struct field ObjectMeta.Nodes.items.metadata.name of type string",
        ),
        (wire.priorities, b'[{"Score": 2.5e1}]', "number 2.5e1 into Go struct field HostPriority.Score of type int64"),
        (wire.priorities, b"[3]", "number into Go value of type v1.HostPriority"),
        (
            wire.preemption_result,
            b'{"NodeNameToMetaVictims": {"n": {"Pods": [{"UID": {}}]}}}',
            "object into Go struct field MetaPod.NodeNameToMetaVictims.Pods.UID of type string",
        ),
        (wire.binding_error, b'{"Error": false}', "bool into Go struct field ExtenderBindingResult.Error of type string"),
    ],
)
def test_a_value_of_another_type_is_named_with_its_field(read: Callable[[bytes], object], body: bytes, expected: str) -> None:
    with pytest.raises(wire.ResponseError) as error:
        read(body)
    assert str(error.value) == f"json: cannot unmarshal {expected}"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"no such page", "invalid character 'o' in literal null (expecting 'u')"),
        (b"<html>", "invalid character '<' looking for beginning of value"),
        (b"{'a': 1}", "invalid character '\\'' looking for beginning of object key string"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b'{"a": 1 "b"', "invalid character '\"' after object key:value pair"),
        (b'{"a": 1,}', "invalid character '}' looking for beginning of object key string"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b"[1,]", "invalid character ']' looking for beginning of value"),
        (b"[-x]", "invalid character 'x' in numeric literal"),
        (b"[1.]", "invalid character ']' after decimal point in numeric literal"),
        (b"[1e+]", "invalid character ']' in exponent of numeric literal"),
        (b'"\\q"', "invalid character 'q' in string escape code"),
        (b'"\\u00g0"', "invalid character 'g' in \\u hexadecimal character escape"),
        (b'"a\nb"', "invalid character '\\n' in string literal"),
        (b"\x00", "invalid character '\\x00' looking for beginning of value"),
        ("é".encode(), "invalid character 'Ã' looking for beginning of value"),
        (b"\xad", "invalid character '\\u00ad' looking for beginning of value"),
        (b'{"a": [tr', "unexpected EOF"),
        (b"[" * (MAX_DEPTH + 1), "invalid character '[' exceeded max depth"),
    ],
)
def test_a_response_that_is_not_json_is_refused_with_the_message_of_go(body: bytes, expected: str) -> None:
    with pytest.raises(wire.ResponseError) as error:
        wire.filter_result(body)
    assert str(error.value) == expected


@pytest.mark.parametrize("body", [b" {} and more", b'[{"a": [1, -2.5e3, "\\u00e9", null]}, true]', b"01", b"nullx"])
def test_only_the_first_value_must_be_valid(body: bytes) -> None:
    assert why_invalid(body) == ""


def test_lone_surrogates_are_replaced_as_by_go() -> None:
    assert wire.binding_error(rb'{"Error": "a\ud800b\udc00 \ud83d\ude00 \\ud800"}') == "a\ufffdb\ufffd \U0001f600 \\ud800"
    result = wire.filter_result(rb'{"NodeNames": ["\udfff"], "FailedNodes": {"n\ud800": "\ud800"}}')
    assert (result.node_names, result.failed) == (["\ufffd"], {"n\ufffd": "\ufffd"})
