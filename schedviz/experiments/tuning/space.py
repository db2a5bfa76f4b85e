"""The space of a search: from the values that are chosen for its axes to a variant."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from schedviz.experiments.errors import Fault
from schedviz.experiments.plans.plan import Patch, Tune, TunedAxis
from schedviz.experiments.plans.variants import Variant, combine

#: What is chosen for an axis: the place of a choice, or a number.
Chosen = int | float

#: The members of a variant that a number can be set in.
_SETTABLE: Final = ("weights", "percentageOfNodesToScore", "pluginArgs", "nodes.count", "config")
_MAX_NAME_LENGTH: Final = 200


def faults_of_axis(axis: TunedAxis, path: str) -> list[Fault]:
    """What is wrong with the form of an axis."""
    if axis.choices is not None:
        excess = [name for name in ("set", "from_", "to", "step") if getattr(axis, name) is not None]
        names = [choice.name for choice in axis.choices]
        if excess or axis.log:
            return [
                Fault(path, f"expected either choices, or set with from and to; found choices and {(excess or ['log'])[0].rstrip('_')}")
            ]
        return [Fault(f"{path}.choices", "two choices have one name")] if len({*names}) < len(names) else []
    if axis.set is None or axis.from_ is None or axis.to is None:
        return [Fault(path, "expected choices, or set with from and to")]
    faults = []
    if not any(axis.set == each or axis.set.startswith(f"{each}.") for each in _SETTABLE):
        faults.append(Fault(f"{path}.set", f"expected a member that starts with one of {', '.join(_SETTABLE)}; found {axis.set!r}"))
    if axis.from_ >= axis.to:
        faults.append(Fault(f"{path}.from", f"expected less than `to`, which is {axis.to}; found {axis.from_}"))
    if axis.step is not None and axis.step <= 0:
        faults.append(Fault(f"{path}.step", f"expected more than 0, found {axis.step}"))
    if axis.log and (axis.from_ <= 0 or axis.step is not None):
        faults.append(Fault(f"{path}.log", "expected it only without step, and with from larger than 0"))
    if not faults:
        try:
            _patch(axis.set, axis.from_)
            _patch(axis.set, axis.to)
        except msgspec.ValidationError as error:
            faults.append(Fault(f"{path}.set", f"{axis.set} cannot be a number from {axis.from_} to {axis.to}: {error}"))
    return faults


class Space:
    """The variants that a search may try: what the baseline changes, and for each axis the chosen change."""

    def __init__(self, tune: Tune, *, base: Patch) -> None:
        self.axes: Mapping[str, TunedAxis] = tune.space
        self._base = base

    def variant(self, chosen: Mapping[str, Chosen]) -> Variant:
        """The variant of one value for each axis. Raises `PlanError` if a choice cannot be combined with the others."""
        patches = [self._base]
        values = {}
        for name, axis in self.axes.items():
            value = chosen[name]
            if axis.choices is not None:
                choice = axis.choices[int(value)]
                patches.append(choice)
                values[name] = choice.name
            else:
                assert axis.set is not None
                patches.append(_patch(axis.set, value))
                values[name] = _shown(value)
        title = ", ".join(f"{name} {value}" for name, value in values.items())
        if len(title) > _MAX_NAME_LENGTH:
            title = f"{title[: _MAX_NAME_LENGTH - 10]}… {zlib.crc32(title.encode()):08x}"
        path = f"tune.space.{list(self.axes)[-1]}"
        return Variant(title, combine(patches, path=path), path, axes=values)

    def corners(self) -> Iterator[Variant]:
        """Variants that together have the least and the largest value of each axis, and every choice."""
        for turn in range(max((len(axis.choices or ()) for axis in self.axes.values()), default=0) or 2):
            yield self.variant({name: _corner(axis, turn) for name, axis in self.axes.items()})


def is_whole(axis: TunedAxis) -> bool:
    """Whether an axis has whole numbers only."""
    return all(isinstance(value, int) for value in (axis.from_, axis.to, axis.step or 1))


def _corner(axis: TunedAxis, turn: int) -> Chosen:
    if axis.choices is not None:
        return turn % len(axis.choices)
    value = axis.to if turn % 2 else axis.from_
    assert value is not None
    return value


def _patch(path: str, value: Chosen) -> Patch:
    """A patch that sets one member."""
    document: Any = value
    # A plugin's name has no dots, and the amount of a resource, whose name may have some, cannot be set.
    for part in reversed(path.split(".")):
        document = {part: document}
    return msgspec.convert(document, Patch)


def _shown(value: Chosen) -> str:
    return str(value) if isinstance(value, int) else f"{value:.6g}"
