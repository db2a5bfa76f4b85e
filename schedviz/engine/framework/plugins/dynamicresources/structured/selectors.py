"""CEL selectors of devices: compiles them, and evaluates them for a device.

Upstream: dynamic-resource-allocation/cel/compile.go DeviceMatches, cel/cache.go
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

from schedviz import cel
from schedviz.cel.device_selectors import MAX_COST, MAX_LENGTH, compiled
from schedviz.cel.errors import CelError, CostLimitError
from schedviz.cel.library.semantic_versions import SemverError, parse
from schedviz.cel.program import Frame
from schedviz.cel.values import DefaultMap, type_name
from schedviz.kube.devices import Device, DeviceAttribute

#: Selectors whose evaluation for a device costs this much or more are evaluated only by a search, not by `FreeDevices`.
_USUAL_COST: Final = 30
#: Work in visits, each of which is about a microsecond: of any evaluation, and for each unit of its cost.
_VISITS_PER_EVALUATION: Final = 4
_USUAL_VISITS_PER_COST: Final = 0.5
_VISITS_PER_COST: Final = 2


class SelectorError(ValueError):
    """A selector that does not compile, or fails for a device. The text is upstream's."""


class SelectorResult(NamedTuple):
    """A selector's value for a device, or how it fails, and how much work that was, in devices visited."""

    value: bool | SelectorError
    visits: int = _VISITS_PER_EVALUATION
    #: Whether that was as little as usual.
    is_cheap: bool = True


class Selectors:
    """The programs of selectors. Each expression is compiled once."""

    def __init__(self, *, list_type_attributes: bool = False, shows_sharing: bool = True) -> None:
        """`shows_sharing`: selectors see which devices allow multiple allocations."""
        self._lists = list_type_attributes
        self._shows_sharing = shows_sharing
        self._compiled = lru_cache(maxsize=1024)(self._compile)

    def matches(self, expression: str, driver: str, device: Device) -> bool:
        """Whether the device is selected. Raises `SelectorError`."""
        result = self.result(expression, driver, device).value
        if isinstance(result, SelectorError):
            raise result
        return result

    def result(self, expression: str, driver: str, device: Device) -> SelectorResult:
        """Whether the device is selected, and how much work it took to know."""
        program = self._compiled(expression)
        if isinstance(program, str):
            return SelectorResult(SelectorError(f"CEL compile error: {program}"))
        try:
            frame = program.frame({"device": self._variable(driver, device)}, cost_limit=MAX_COST)
        except SelectorError as error:
            return SelectorResult(error)
        value = _evaluated(program, frame)
        spent = frame.cost + frame.work
        if spent < _USUAL_COST:
            return SelectorResult(value, _VISITS_PER_EVALUATION + int(spent * _USUAL_VISITS_PER_COST))
        return SelectorResult(value, spent * _VISITS_PER_COST, is_cheap=False)

    def _compile(self, expression: str) -> cel.Program | str:
        """The program, or the compilation error."""
        if len(expression.encode()) > MAX_LENGTH:
            return f"compilation failed: Too long: may not be more than {MAX_LENGTH} bytes"
        return compiled(expression, list_type_attributes=self._lists, is_stored=True)

    def _variable(self, driver: str, device: Device) -> dict[str, Any]:
        """The value of `device`. Raises `SelectorError`. Upstream: DeviceMatches"""
        attributes: DefaultMap = DefaultMap()
        for name, attribute in device.attributes.items():
            domain, key = _qualified(name, driver)
            try:
                value = self._attribute(attribute)
            except SelectorError as error:
                raise SelectorError(f"CEL runtime error: attribute {name}: {error}") from None
            attributes.setdefault(domain, {})[key] = value
        capacity: DefaultMap = DefaultMap()
        for name, amount in device.capacity.items():
            domain, key = _qualified(name, driver)
            capacity.setdefault(domain, {})[key] = amount.value
        return {
            "driver": driver,
            "allowMultipleAllocations": self._shows_sharing and bool(device.allow_multiple_allocations),
            "attributes": attributes,
            "capacity": capacity,
        }

    def _attribute(self, attribute: DeviceAttribute) -> Any:
        """The one value that is set. Raises `SelectorError`. Upstream: getAttributeValue"""
        if self._lists:
            for values in (attribute.int_values, attribute.bool_values, attribute.string_values):
                if values:
                    return values
            if attribute.version_values:
                return tuple(map(_version, attribute.version_values))
        for value in (attribute.int_value, attribute.bool_value, attribute.string_value):
            if value is not None:
                return value
        if attribute.version_value is not None:
            return _version(attribute.version_value)
        raise SelectorError("unsupported attribute value")


def _evaluated(program: cel.Program, frame: Frame) -> bool | SelectorError:
    try:
        value = program.run(frame)
    except (CelError, CostLimitError) as error:
        return SelectorError(f"CEL runtime error: {error}")
    if isinstance(value, bool):
        return value
    actual = type_name(value)
    problem = {
        "string": "unsupported native conversion from string to 'bool'",
        "int": "unsupported type conversion from 'int' to bool",
    }.get(actual, f"type conversion error from '{actual}' to 'bool'")
    return SelectorError(f"CEL runtime error: CEL result of type {actual} could not be converted to bool: {problem}")


def _version(text: str) -> Any:
    try:
        return parse(text)
    except SemverError as error:
        raise SelectorError(f"parse semantic version: {error}") from None


def _qualified(name: str, driver: str) -> tuple[str, str]:
    """Domain and identifier; names without a domain are the driver's. Upstream: parseQualifiedName"""
    domain, separator, key = name.partition("/")
    return (domain, key) if separator else (driver, name)
