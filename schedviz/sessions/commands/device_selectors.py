"""Checks the CEL selectors of new claims, templates and device classes, and the lengths of their lists, as an API server does.

Upstream: pkg/apis/resource/validation/validation.go
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import Final

from schedviz.cel.device_selectors import MAX_LENGTH, refusal
from schedviz.kube import codec
from schedviz.kube.devices import DeviceClass, DeviceSelector, ResourceClaim, ResourceClaimSpec, ResourceClaimTemplate
from schedviz.kube.errors import KubeError
from schedviz.kube.meta import KubeObject
from schedviz.sessions.errors import CommandRefused
from schedviz.sessions.senders import SenderGroup, sender_group_of
from schedviz.sessions.token_bucket import Bucket, take_from_all
from schedviz.trace.commands import AnyCommand, Create, Update

#: Expressions that are checked; an object with more of them is accepted with the others unchecked.
_MAX_EXPRESSIONS: Final = 64
#: Characters of expressions that a process checks in a second, and at once: a tenth of its time.
_CHARACTERS_PER_SECOND: Final = 10_000
_MAX_CHARACTERS: Final = 4 * MAX_LENGTH
#: The part of it that one sender, and all senders of one group (`schedviz.sessions.senders`), may take.
_SENDER_PART: Final = 0.25
_GROUP_PART: Final = 0.5
#: Senders and groups whose parts are counted.
_MAX_SENDERS: Final = 1024
#: Expressions whose result is kept.
_MAX_KNOWN: Final = 1024
#: The most items in lists of a claim or class. Upstream: pkg/apis/resource/types.go DeviceRequestsMaxSize, DeviceConstraintsMaxSize,
#: DeviceSelectorsMaxSize, FirstAvailableDeviceRequestMaxSize
MAX_REQUESTS: Final = 32
MAX_CONSTRAINTS: Final = 32
MAX_SELECTORS: Final = 32
MAX_ALTERNATIVES: Final = 8
_KINDS: Final = ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate")


class SelectorChecks:
    """The checks of expressions in this process, which take a part of its time: an expression over it is accepted unchecked. The engine
    compiles it when it meets it, with the same limits of length and cost; pods that need it are then unschedulable.

    Compiling 10,000 characters takes 0.1 s, in which other requests get little of the interpreter.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._all = self._part(1)
        #: The parts of senders and groups, by name; the one that was used last at the end.
        self._parts: OrderedDict[str, Bucket] = OrderedDict()
        #: By digest, why expressions are refused; the one that was used last at the end.
        self._known: OrderedDict[bytes, str] = OrderedDict()

    def refusal_of(self, expression: str, *, sender: str) -> str:
        """Why an expression is refused; "" if it is valid, or was not checked. It counts for its sender."""
        encoded = expression.encode("utf-8", "surrogatepass")
        if len(encoded) > MAX_LENGTH:
            # Nothing is compiled for it, so it takes no time of the others.
            return refusal(expression)
        digest = hashlib.blake2b(encoded, digest_size=16).digest()
        with self._lock:
            if (known := self._known.get(digest)) is not None:
                self._known.move_to_end(digest)
                return known
        sender_group = sender_group_of(sender)
        with self._lock:
            if not self._takes(len(expression), sender_group):
                return ""
        refused = refusal(expression)
        if refused and not refusal(expression, list_type_attributes=True):
            refused = ""
        with self._lock:
            self._known[digest] = refused
            if len(self._known) > _MAX_KNOWN:
                self._known.popitem(last=False)
        return refused

    def _takes(self, characters: int, sender_group: SenderGroup) -> bool:
        parts = [self._all, self._part_of(sender_group.sender, _SENDER_PART)]
        if sender_group.group:
            parts.append(self._part_of(sender_group.group, _GROUP_PART))
        return take_from_all(parts, characters)

    def _part_of(self, name: str, part: float) -> Bucket:
        bucket = self._parts.setdefault(name, self._part(part))
        self._parts.move_to_end(name)
        if len(self._parts) > _MAX_SENDERS:
            self._parts.popitem(last=False)
        return bucket

    def _part(self, part: float) -> Bucket:
        return Bucket(part * _CHARACTERS_PER_SECOND, part * _MAX_CHARACTERS, self._clock)


CHECKS: Final = SelectorChecks()


def validate_selectors(command: AnyCommand, *, sender: str) -> None:
    """Check the selectors of a new or changed object, after the lengths of its lists. Raises `CommandRefused` with the path of the selector
    or list and upstream's message.

    An expression that is valid with the gate DRAListTypeAttributes is accepted: whether the session has it is not known here. So are
    expressions for which this process has no time left for the sender (`SelectorChecks`).
    """
    if not isinstance(command, Create | Update) or command.object.get("kind") not in _KINDS:
        return
    try:
        obj = codec.from_dict(command.object)
    except KubeError:
        return
    for path, items, maximum in _lists(obj):
        if len(items) > maximum:
            raise CommandRefused(f"Too many: {len(items)}: must have at most {maximum} items", path=f"object.{path}")
    checked: set[str] = set()
    for path, expression in _expressions(obj):
        if expression in checked:
            continue
        if len(checked) == _MAX_EXPRESSIONS:
            return
        checked.add(expression)
        if refused := CHECKS.refusal_of(expression, sender=sender):
            raise CommandRefused(refused, path=f"object.{path}")


def _lists(obj: KubeObject) -> Iterator[tuple[str, Sequence[object], int]]:
    """The path of each list with a limit, the list, and the limit."""
    match obj:
        case DeviceClass():
            yield "spec.selectors", obj.spec.selectors, MAX_SELECTORS
        case ResourceClaim():
            yield from _lists_of_claim("spec", obj.spec)
        case ResourceClaimTemplate():
            yield from _lists_of_claim("spec.spec", obj.spec.spec)


def _lists_of_claim(path: str, spec: ResourceClaimSpec) -> Iterator[tuple[str, Sequence[object], int]]:
    yield f"{path}.devices.requests", spec.devices.requests, MAX_REQUESTS
    yield f"{path}.devices.constraints", spec.devices.constraints, MAX_CONSTRAINTS
    for index, request in enumerate(spec.devices.requests):
        where = f"{path}.devices.requests[{index}]"
        if request.exactly is not None:
            yield f"{where}.exactly.selectors", request.exactly.selectors, MAX_SELECTORS
        yield f"{where}.firstAvailable", request.first_available, MAX_ALTERNATIVES
        for alternative, subrequest in enumerate(request.first_available):
            yield f"{where}.firstAvailable[{alternative}].selectors", subrequest.selectors, MAX_SELECTORS


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
