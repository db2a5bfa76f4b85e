"""Selectors of new objects are checked when a command is accepted."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.sessions.commands import device_selectors
from schedviz.sessions.commands.device_selectors import SelectorChecks, validate_selectors
from schedviz.sessions.errors import CommandRefused
from schedviz.trace.commands import Create, Update

API = "resource.k8s.io/v1"


def selecting(expression: str) -> dict[str, Any]:
    return {"selectors": [{"cel": {"expression": "true"}}, {"cel": {"expression": expression}}]}


def claim_spec(expression: str) -> dict[str, Any]:
    alternatives = [{"name": "a", "deviceClassName": "gpu"}, {"name": "b", "deviceClassName": "gpu", **selecting(expression)}]
    return {"devices": {"requests": [{"name": "r", "firstAvailable": alternatives}]}}


def obj(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": "x"}, "spec": spec}


@pytest.mark.parametrize(
    ("made", "path"),
    [
        (obj("DeviceClass", selecting("1")), "object.spec.selectors[1].cel.expression"),
        (obj("ResourceClaim", claim_spec("1")), "object.spec.devices.requests[0].firstAvailable[1].selectors[1].cel.expression"),
        (
            obj("ResourceClaimTemplate", {"spec": claim_spec("1")}),
            "object.spec.spec.devices.requests[0].firstAvailable[1].selectors[1].cel.expression",
        ),
    ],
)
@pytest.mark.parametrize("command", [Create, Update])
def test_a_bad_selector_is_refused_with_its_place(made: dict[str, Any], path: str, command: Any) -> None:
    with pytest.raises(CommandRefused) as caught:
        validate_selectors(command(object=made))
    assert str(caught.value) == f'{path}: Invalid value: "1": must evaluate to bool or the unknown type, not int'


@pytest.mark.parametrize("expression", ["true", 'device.attributes["d"].tags.includes("x")'])
def test_a_selector_that_some_session_can_use_is_accepted(expression: str) -> None:
    validate_selectors(Create(object=obj("DeviceClass", selecting(expression))))


def selectors(count: int) -> list[dict[str, Any]]:
    return [{"cel": {"expression": "true"}}] * count


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (obj("DeviceClass", {"selectors": selectors(33)}), "spec.selectors: Too many: 33: must have at most 32 items"),
        (
            obj("ResourceClaim", {"devices": {"requests": [{"name": "r", "exactly": {"selectors": selectors(33)}}]}}),
            "spec.devices.requests[0].exactly.selectors: Too many: 33: must have at most 32 items",
        ),
        (
            obj("ResourceClaimTemplate", {"spec": {"devices": {"requests": [{"name": "r", "firstAvailable": [{"name": "a"}] * 9}]}}}),
            "spec.spec.devices.requests[0].firstAvailable: Too many: 9: must have at most 8 items",
        ),
        (
            obj("ResourceClaim", {"devices": {"requests": [{"name": "r", "firstAvailable": [{"name": "a", "selectors": selectors(40)}]}]}}),
            "spec.devices.requests[0].firstAvailable[0].selectors: Too many: 40: must have at most 32 items",
        ),
        (
            obj("ResourceClaim", {"devices": {"requests": [{"name": f"r{number}"} for number in range(33)]}}),
            "spec.devices.requests: Too many: 33: must have at most 32 items",
        ),
        (
            obj("ResourceClaim", {"devices": {"constraints": [{"matchAttribute": "d/a"}] * 33}}),
            "spec.devices.constraints: Too many: 33: must have at most 32 items",
        ),
    ],
)
def test_longer_lists_than_an_api_server_allows_are_refused(made: dict[str, Any], message: str) -> None:
    with pytest.raises(CommandRefused) as caught:
        validate_selectors(Create(object=made))
    assert str(caught.value) == f"object.{message}"


def test_lists_of_the_allowed_length_are_accepted() -> None:
    request = {"name": "r", "firstAvailable": [{"name": f"a{number}", "selectors": selectors(32)} for number in range(8)]}
    validate_selectors(Create(object=obj("ResourceClaim", {"devices": {"requests": [request] * 32}})))
    validate_selectors(Create(object=obj("DeviceClass", {"selectors": selectors(32)})))


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The expressions that are compiled."""
    result: list[str] = []

    def refusal(expression: str, *, list_type_attributes: bool = False) -> str:
        if not list_type_attributes:
            result.append(expression)
        return "wrong" if expression.startswith("1") else ""

    monkeypatch.setattr(device_selectors, "refusal", refusal)
    return result


def test_checks_take_a_part_of_the_time_and_other_expressions_are_accepted(compiled: list[str]) -> None:
    now = [0.0]
    checks = SelectorChecks(clock=lambda: now[0])
    long = [f"1{number}".ljust(10_000) for number in range(12)]

    assert [checks.refusal_of(expression) for expression in long[:5]] == [*["wrong"] * 4, ""]
    now[0] += 0.1
    assert checks.refusal_of("1") == "wrong", "there is time for a short one"
    now[0] += 1.0
    assert [checks.refusal_of(expression) for expression in long[3:7]] == ["wrong", "wrong", "", ""]
    now[0] += 1000.0
    assert [checks.refusal_of(expression) for expression in long[7:]] == [*["wrong"] * 4, ""]
    assert len(compiled) == 10


def test_an_expression_that_is_too_long_is_always_refused() -> None:
    checks = SelectorChecks(clock=lambda: 0.0)
    for number in range(4):
        assert checks.refusal_of(f"{number} +".ljust(9_000)).startswith("Invalid value: ")
    assert checks.refusal_of("4 +".ljust(9_000)) == "", "no time is left"
    for length in (10_241, 50_000, 100_000):
        assert checks.refusal_of("true".ljust(length)) == "Too long: may not be more than 10240 bytes"


def test_an_expression_is_compiled_once(compiled: list[str]) -> None:
    checks = SelectorChecks(clock=lambda: 0.0)
    for _ in range(3):
        assert [checks.refusal_of(f"1{number}".ljust(10_000)) for number in range(3)] == ["wrong"] * 3
        assert [checks.refusal_of(expression) for expression in ("true", "1".ljust(10_000))] == ["", ""]
    assert [len(expression) for expression in compiled] == [10_000, 10_000, 10_000, 4]
