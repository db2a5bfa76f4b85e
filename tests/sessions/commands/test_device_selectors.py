"""Selectors of new objects are checked when a command is accepted."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.sessions.commands.device_selectors import validate_selectors
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
