"""Selectors of new objects are checked when a command is accepted."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.sessions import senders
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
def test_an_invalid_selector_is_refused_with_its_path(made: dict[str, Any], path: str, command: Any) -> None:
    with pytest.raises(CommandRefused) as caught:
        validate_selectors(command(object=made), sender="")
    assert str(caught.value) == f'{path}: Invalid value: "1": must evaluate to bool or the unknown type, not int'


@pytest.mark.parametrize("expression", ["true", 'device.attributes["d"].tags.includes("x")'])
def test_a_selector_that_is_valid_in_some_session_is_accepted(expression: str) -> None:
    validate_selectors(Create(object=obj("DeviceClass", selecting(expression))), sender="")


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
def test_lists_longer_than_an_api_server_allows_are_refused(made: dict[str, Any], message: str) -> None:
    with pytest.raises(CommandRefused) as caught:
        validate_selectors(Create(object=made), sender="")
    assert str(caught.value) == f"object.{message}"


def test_lists_of_the_allowed_length_are_accepted() -> None:
    request = {"name": "r", "firstAvailable": [{"name": f"a{number}", "selectors": selectors(32)} for number in range(8)]}
    validate_selectors(Create(object=obj("ResourceClaim", {"devices": {"requests": [request] * 32}})), sender="")
    validate_selectors(Create(object=obj("DeviceClass", {"selectors": selectors(32)})), sender="")


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The compiled expressions."""
    result: list[str] = []

    def refusal(expression: str, *, list_type_attributes: bool = False) -> str:
        if not list_type_attributes:
            result.append(expression)
        return "wrong" if expression.startswith("1") else ""

    monkeypatch.setattr(device_selectors, "refusal", refusal)
    return result


class Checks:
    """Selector checks with a clock that the test sets."""

    def __init__(self) -> None:
        self.now = 0.0
        self._checks = SelectorChecks(clock=lambda: self.now)
        self._number = 0

    def of(self, sender: str, *, length: int = 10_000, count: int = 1) -> list[bool]:
        """Which of `count` new expressions are checked; all of them are invalid."""
        self._number += count
        return [
            self._checks.refusal_of(f"1{number}".ljust(length), sender=sender) == "wrong"
            for number in range(self._number - count, self._number)
        ]


@pytest.mark.usefixtures("compiled")
def test_checks_have_a_time_budget_and_expressions_beyond_it_are_accepted_unchecked() -> None:
    checks = Checks()

    assert [checks.of(f"user {number}") for number in range(5)] == [*[[True]] * 4, [False]]
    checks.now += 0.1
    assert checks.of("user 5", length=2) == [True], "the budget is enough for a short expression"
    checks.now += 1.0
    assert [checks.of(f"user {number}") for number in range(6, 8)] == [[True], [False]]
    checks.now += 1000.0
    assert [checks.of(f"user {number}") for number in range(5)] == [*[[True]] * 4, [False]]


@pytest.mark.usefixtures("compiled")
def test_each_sender_has_a_share_of_the_check_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(senders, "_networks_of", lambda user_ids: {user: f"network {user % 2}" for user in user_ids if user >= 100})
    checks = Checks()

    for _ in range(20):
        checks.now += 0.5
        checks.of("user 1", length=1000, count=20)
        assert checks.of("user 2", length=1000) == [True]
    assert checks.of("user 1", count=2) == [False, False]
    checks.now += 1000.0
    assert [checks.of(f"address {number}", count=2) for number in range(3)] == [[True, False], [True, False], [False, False]]
    assert [checks.of(f"user {number}") for number in (100, 102, 101)] == [[True], [False], [True]], "visitors are counted by network"


def test_an_expression_over_the_length_limit_is_always_refused() -> None:
    checks = SelectorChecks(clock=lambda: 0.0)
    assert checks.refusal_of("1 +".ljust(9_000), sender="").startswith("Invalid value: ")
    assert checks.refusal_of("2 +".ljust(9_000), sender="") == "", "no time is left"
    for length in (10_241, 50_000, 100_000):
        assert checks.refusal_of("true".ljust(length), sender="") == "Too long: may not be more than 10240 bytes"


def test_an_expression_is_compiled_once(compiled: list[str]) -> None:
    checks = SelectorChecks(clock=lambda: 0.0)
    for _ in range(3):
        assert [checks.refusal_of(f"1{number}".ljust(3_000), sender="") for number in range(3)] == ["wrong"] * 3
        assert [checks.refusal_of(expression, sender="") for expression in ("true", "1".ljust(3_000))] == ["", ""]
    assert [len(expression) for expression in compiled] == [3_000, 3_000, 3_000, 4]
