"""Optional values. `or` and `orValue` evaluate their argument only if they need it. Upstream: cel-go cel/library.go optionalLib"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from schedviz.cel import types
from schedviz.cel.declarations import Overload
from schedviz.cel.types import BOOL, A, B
from schedviz.cel.values import Optional

_OPTIONAL: Final = types.optional_of(A)


def functions() -> Iterator[tuple[str, Overload]]:
    """Every overload with the name of its function."""
    yield "optional.of", Overload((A,), _OPTIONAL, Optional)
    yield "optional.ofNonZeroValue", Overload((A,), _OPTIONAL, lambda value: Optional(value) if value else Optional.NONE)
    yield "optional.none", Overload((), _OPTIONAL, lambda: Optional.NONE)
    yield "hasValue", Overload((_OPTIONAL,), BOOL, lambda optional: optional.has_value, is_member=True)
    yield "value", Overload((_OPTIONAL,), A, lambda optional: optional.value, is_member=True)
    yield "or", Overload((_OPTIONAL, _OPTIONAL), _OPTIONAL, _computed_elsewhere, is_member=True)
    yield "orValue", Overload((_OPTIONAL, A), A, _computed_elsewhere, is_member=True)
    list_, map_ = types.list_of(A), types.map_of(A, B)
    for container, key, value in ((list_, types.INT, A), (types.optional_of(list_), types.INT, A), (map_, A, B)):
        yield "_[?_]", Overload((container, key), types.optional_of(value), _computed_elsewhere)
    yield "_[?_]", Overload((types.optional_of(map_), A), types.optional_of(B), _computed_elsewhere)
    yield "_[_]", Overload((types.optional_of(list_), types.INT), _OPTIONAL, _computed_elsewhere)
    yield "_[_]", Overload((types.optional_of(map_), A), types.optional_of(B), _computed_elsewhere)


def _computed_elsewhere(*_arguments: Any) -> Any:
    raise AssertionError("the planner has a step of its own for this")
