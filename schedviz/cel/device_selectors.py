"""The environment of the selectors of devices, and what an API server refuses.

Upstream: dynamic-resource-allocation/cel/compile.go, pkg/apis/resource/validation/validation.go validateCELSelector
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from schedviz.cel import types
from schedviz.cel.declarations import Overload
from schedviz.cel.environment import Environment
from schedviz.cel.errors import CelError, CompileError, InstantiationError
from schedviz.cel.estimate import Path
from schedviz.cel.library.quantities import QUANTITY
from schedviz.cel.program import Program
from schedviz.cel.types import ANY, BOOL, DYN, STRING, Type
from schedviz.cel.values import equal

#: Upstream: resource/v1 CELSelectorExpressionMaxCost
MAX_COST: Final = 1_000_000
#: The API server refuses longer expressions. Upstream: resource/v1 CELSelectorExpressionMaxLength
MAX_LENGTH: Final = 10 * 1024
#: Upstream: resource/v1 ResourceSliceMaxAttributeValuesPerDevice
MAX_ATTRIBUTE_VALUES: Final = 48
DEVICE: Final = Type("struct", "kubernetes.DRADevice")

#: Upstream: resource/v1 DriverNameMaxLength, DeviceMaxDomainLength, DeviceMaxIDLength, DeviceAttributeMaxValueLength,
#: ResourceSliceMaxAttributesAndCapacitiesPerDevice
_DRIVER, _DOMAIN, _ID, _VALUE, _ENTRIES = 63, 63, 32, 64, 32


@cache
def environment(*, list_type_attributes: bool, is_stored: bool = False) -> Environment:
    """What selectors can use. Upstream: newCompiler"""
    attribute = DYN if list_type_attributes else ANY
    fields: dict[str, Type] = {
        "driver": STRING,
        "attributes": types.map_of(STRING, types.map_of(STRING, attribute)),
        "capacity": types.map_of(STRING, types.map_of(STRING, QUANTITY)),
        "allowMultipleAllocations": BOOL,
    }
    has_includes = list_type_attributes or is_stored
    functions = [("includes", Overload((DYN, DYN), BOOL, _includes, is_member=True))] if has_includes else []
    containers: Mapping[str, Mapping[str, Type]] = {DEVICE.name: fields}
    return Environment({"device": DEVICE}, fields=containers, functions=functions)


def _includes(target: Any, item: Any) -> bool:
    """Whether a value is the item, or a list has it. Upstream: includesFunc"""
    if not isinstance(target, tuple | list):
        return equal(target, item)
    for index, target_item in enumerate(target):
        if index >= MAX_ATTRIBUTE_VALUES:
            raise CelError(f"'includes' function cannot be applied to lists longer than {MAX_ATTRIBUTE_VALUES} values")
        if equal(target_item, item):
            return True
    return False


def compiled(expression: str, *, list_type_attributes: bool = False, is_stored: bool = False) -> Program | str:
    """The program, or the compilation error. `is_stored`: it may use what any gate adds. Upstream: CompileCELExpression"""
    try:
        names = environment(list_type_attributes=list_type_attributes, is_stored=is_stored)
        program = names.compile(expression)
    except CompileError as error:
        return f"compilation failed: {error}"
    except InstantiationError as error:
        problem = "" if error.output is None else _output_problem(error.output, list_type_attributes=list_type_attributes)
        return problem or f"program instantiation failed: {error}"
    return _output_problem(program.output, list_type_attributes=list_type_attributes) or program


def _output_problem(output: Type, *, list_type_attributes: bool) -> str:
    if output in (BOOL, ANY) or (list_type_attributes and output == DYN):
        return ""
    return f"must evaluate to bool or the unknown type, not {output.described()}"


def worst_cost(expression: str, *, list_type_attributes: bool = False) -> int:
    """The most that an evaluation can cost for any device. Raises `CompileError`."""
    names = environment(list_type_attributes=list_type_attributes)
    return names.worst_cost(expression, _size_of, {"includes": MAX_ATTRIBUTE_VALUES})


def _size_of(path: Path) -> int | None:
    """The maximum size of the value at a path from `device`; None: unknown. Upstream: sizeEstimator.EstimateSize"""
    match path:
        case ("device", "driver"):
            return _DRIVER
        case ("device", "allowMultipleAllocations"):
            return 1
        case ("device", "attributes" | "capacity") | ("device", "attributes" | "capacity", "@values" | "@items"):
            return _ENTRIES
        case ("device", "attributes" | "capacity", "@keys"):
            return _DOMAIN
        case ("device", "attributes" | "capacity", "@values" | "@items", "@keys"):
            return _ID
        case ("device", "attributes", "@values" | "@items", _):
            return _VALUE
    return None


def refusal(expression: str, *, list_type_attributes: bool = False) -> str:
    """Why an API server refuses the expression, in its words, which follow the path of the member; "": it accepts it."""
    if len(expression.encode()) > MAX_LENGTH:
        return f"Too long: may not be more than {MAX_LENGTH} bytes"
    program = compiled(expression, list_type_attributes=list_type_attributes)
    if isinstance(program, str):
        return f"Invalid value: {_quoted(expression)}: {program}"
    if worst_cost(expression, list_type_attributes=list_type_attributes) > MAX_COST:
        return "Forbidden: too complex, exceeds cost limit"
    return ""


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'
