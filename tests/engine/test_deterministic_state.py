"""Equal states give equal bytes in every process: no stored data depends on the order of a set, which varies with the hash seed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec.inspect
import pytest

import schedviz.engine.releases  # noqa: F401 - importing it defines the keys of all plugins
from schedviz.engine.framework import cycle_state, plugins
from schedviz.engine.framework.cycle_state import StateKey, StoredState
from schedviz.engine.framework.plugins.interpodaffinity.filtering import PreFilterState
from schedviz.engine.framework.plugins.interpodaffinity.terms import Term
from schedviz.kube.selectors import EVERYTHING, NOTHING

#: Keys that tests in other modules of this process define are excluded.
OURS = [key for key in cycle_state._keys.values() if key.data_type.__module__.startswith(plugins.__name__)]


@pytest.mark.parametrize("key", [key for key in OURS if not issubclass(key.data_type, StoredState)], ids=lambda key: key.name)
def test_no_directly_encoded_state_holds_a_set(key: StateKey[Any]) -> None:
    kinds = list(_kinds(msgspec.inspect.type_info(key.data_type)))

    assert len(kinds) > 1
    assert not [kind for kind in kinds if isinstance(kind, msgspec.inspect.SetType | msgspec.inspect.FrozenSetType)]


def test_the_namespaces_of_terms_are_sorted() -> None:
    names = [f"team-{number:02}" for number in range(20)]
    term = Term("zone", EVERYTHING, frozenset(names), NOTHING)

    written = PreFilterState((term,), (term,), {}, ({}, {}, {})).to_state()

    assert [written[side][0]["namespaces"] for side in ("affinityTerms", "antiAffinityTerms")] == [names, names]


def _kinds(kind: msgspec.inspect.Type) -> Iterator[msgspec.inspect.Type]:
    """A type and all types of its members."""
    yield kind
    match kind:
        case msgspec.inspect.StructType(fields=fields):
            parts = [field.type for field in fields]
        case msgspec.inspect.VarTupleType(item_type=item) | msgspec.inspect.ListType(item_type=item):
            parts = [item]
        case msgspec.inspect.TupleType(item_types=items):
            parts = list(items)
        case msgspec.inspect.DictType(key_type=name, value_type=value):
            parts = [name, value]
        case msgspec.inspect.UnionType(types=types):
            parts = list(types)
        case _:
            parts = []
    for part in parts:
        yield from _kinds(part)
