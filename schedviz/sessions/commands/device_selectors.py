"""Checks the CEL selectors of new claims, templates and device classes, as an API server does.

Upstream: pkg/apis/resource/validation/validation.go
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from schedviz.cel.device_selectors import refusal
from schedviz.kube import codec
from schedviz.kube.devices import DeviceClass, DeviceSelector, ResourceClaim, ResourceClaimSpec, ResourceClaimTemplate
from schedviz.kube.errors import KubeError
from schedviz.kube.meta import KubeObject
from schedviz.sessions.errors import CommandRefused
from schedviz.trace.commands import AnyCommand, Create, Update

#: Expressions that are checked; an object with more of them is accepted with the others unchecked.
_MAX_EXPRESSIONS: Final = 64
_KINDS: Final = ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate")


def validate_selectors(command: AnyCommand) -> None:
    """Check the selectors of a new or changed object. Raises `CommandRefused` with the path of the selector and upstream's message.

    An expression that is valid with the gate DRAListTypeAttributes is accepted: whether the session has it is not known here.
    """
    if not isinstance(command, Create | Update) or command.object.get("kind") not in _KINDS:
        return
    try:
        obj = codec.from_dict(command.object)
    except KubeError:
        return
    checked: set[str] = set()
    for path, expression in _expressions(obj):
        if expression in checked:
            continue
        if len(checked) == _MAX_EXPRESSIONS:
            return
        checked.add(expression)
        refused = refusal(expression)
        if refused and refusal(expression, list_type_attributes=True):
            raise CommandRefused(f"object.{path}: {refused}")


def _expressions(obj: KubeObject) -> Iterator[tuple[str, str]]:
    """The path of each expression, and the expression."""
    match obj:
        case DeviceClass():
            yield from _of_selectors("spec", obj.spec.selectors)
        case ResourceClaim():
            yield from _of_claim("spec", obj.spec)
        case ResourceClaimTemplate():
            yield from _of_claim("spec.spec", obj.spec.spec)


def _of_claim(path: str, spec: ResourceClaimSpec) -> Iterator[tuple[str, str]]:
    for index, request in enumerate(spec.devices.requests):
        where = f"{path}.devices.requests[{index}]"
        if request.exactly is not None:
            yield from _of_selectors(f"{where}.exactly", request.exactly.selectors)
        for alternative, subrequest in enumerate(request.first_available):
            yield from _of_selectors(f"{where}.firstAvailable[{alternative}]", subrequest.selectors)


def _of_selectors(path: str, selectors: Sequence[DeviceSelector]) -> Iterator[tuple[str, str]]:
    for index, selector in enumerate(selectors):
        if selector.cel is not None:
            yield f"{path}.selectors[{index}].cel.expression", selector.cel.expression
