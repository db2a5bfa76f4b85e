"""The variants of a plan: `common` with a variant's differences, or with those of one value of each axis of the grid."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import msgspec

from schedviz.experiments.configuration import with_patch
from schedviz.experiments.errors import Fault, PlanError
from schedviz.experiments.plan import MOST_TRIALS, NamedPatch, NodesPatch, Patch, Plan
from schedviz.trace.policies import Policies

#: The name of the only variant of a plan that names none.
ONLY = "default"


class Variant(msgspec.Struct, frozen=True, rename="camel"):
    """One scheduler, and the nodes that it runs with."""

    name: str
    patch: Patch
    #: Its path in the plan, such as `variants[2]`.
    path: str
    note: str = ""
    #: Axis of the grid -> the name of its value.
    axes: dict[str, str] = {}

    def config(self, base: dict[str, Any] | None) -> dict[str, Any] | None:
        """The KubeSchedulerConfiguration, from that of the base. None: the default one. Raises `PlanError`."""
        return with_patch(base, self.patch, path=self.path)


def expand(plan: Plan) -> list[Variant]:
    """The variants of a plan: those of the list, then those of the grid. Raises `PlanError`."""
    count = len(plan.variants) + _combinations(plan)
    trials = max(count, 1) * len(plan.all_seeds)
    if trials > MOST_TRIALS:
        raise PlanError.of("grid" if plan.grid else "variants", f"the plan has {trials:,} trials; at most {MOST_TRIALS:,} are possible")
    variants = [
        Variant(patch.name, combine([plan.common, patch], path=f"variants[{index}]"), f"variants[{index}]", patch.note)
        for index, patch in enumerate(plan.variants)
    ]
    variants += _of_grid(plan)
    variants = variants or [Variant(ONLY, plan.common, "common")]
    _check_names(plan, variants)
    return variants


def _combinations(plan: Plan) -> int:
    count = 1 if plan.grid else 0
    for values in plan.grid.values():
        count *= len(values)
    return count


def _of_grid(plan: Plan) -> list[Variant]:
    if not plan.grid:
        return []
    variants = []
    axes = list(plan.grid)
    for indices in product(*(range(len(values)) for values in plan.grid.values())):
        chosen: list[NamedPatch] = [plan.grid[axis][index] for axis, index in zip(axes, indices, strict=True)]
        path = f"grid.{axes[-1]}[{indices[-1]}]"
        name = ", ".join(value.name for value in chosen)
        note = " ".join(value.note for value in chosen if value.note)
        patch = combine([plan.common, combine(chosen, path=path, may_override=False)], path=path)
        variants.append(Variant(name, patch, path, note, dict(zip(axes, (value.name for value in chosen), strict=True))))
    return variants


def _check_names(plan: Plan, variants: Sequence[Variant]) -> None:
    faults = []
    seen: dict[str, Variant] = {}
    for variant in variants:
        if variant.name in seen:
            faults.append(Fault(variant.path, f"another variant has the same name: {seen[variant.name].path}", variant=variant.name))
        seen.setdefault(variant.name, variant)
    if plan.baseline is not None and plan.baseline not in seen:
        names = ", ".join(map(repr, list(seen)[:20]))
        faults.append(Fault("baseline", f"there is no variant {plan.baseline!r}; there are {names}"))
    if faults:
        raise PlanError(faults)


def combine(patches: Sequence[Patch], *, path: str, may_override: bool = True) -> Patch:
    """One patch that is equivalent to these in sequence. Without `may_override`, two that set one value differently are an error."""
    result = Patch()
    for patch in patches:
        members: dict[str, Any] = {}
        for field in msgspec.structs.fields(Patch):
            old, new = getattr(result, field.name), getattr(patch, field.name)
            default = field.default if field.default is not msgspec.NODEFAULT else {}
            if not may_override and _disagree(old, new):
                raise PlanError.of(path, f"two axes of the grid set {field.encode_name}")
            members[field.name] = _combined(old, new, default)
        result = Patch(**members)
    return result


def _combined(old: Any, new: Any, default: Any) -> Any:
    if isinstance(new, dict):
        return _merged_patch(old, new)
    if isinstance(new, NodesPatch):
        return _combined_nodes(old, new)
    if isinstance(new, Policies) and isinstance(old, Policies):
        return new
    return old if new == default else new


def _merged_patch(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The merge patch that is equivalent to two in sequence. Its nulls still remove members."""
    both = dict(old)
    for key, value in new.items():
        both[key] = _merged_patch(both[key], value) if isinstance(value, dict) and isinstance(both.get(key), dict) else value
    return both


def _combined_nodes(old: NodesPatch, new: NodesPatch) -> NodesPatch:
    return NodesPatch(
        remove=[*old.remove, *new.remove],
        count=old.count if new.count is None else new.count,
        add=[*old.add, *new.add],
        allocatable={**old.allocatable, **new.allocatable},
    )


def _disagree(old: Any, new: Any) -> bool:
    """Whether two patches set one value differently. Lists of nodes are concatenated."""
    if isinstance(old, NodesPatch):
        return (old.count is not None and new.count is not None) or _disagree(old.allocatable, new.allocatable)
    if isinstance(old, dict) and isinstance(new, dict):
        return any(_disagree(old[key], new[key]) for key in old.keys() & new.keys())
    return old is not None and new is not None and old != new
