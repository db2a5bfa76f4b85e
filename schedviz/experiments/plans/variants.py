"""From a plan to its variants: `common`, with a variant's differences, or with those of one value of each axis of the grid."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, product
from typing import Any, Final

import msgspec

from schedviz.experiments.errors import Fault, PlanError
from schedviz.experiments.plans.configuration import with_patch
from schedviz.experiments.plans.plan import MAX_NODES, MAX_TRIALS, MAX_VALUES, MAX_VARIANT_NAME_LENGTH, NamedPatch, NodesPatch, Patch, Plan
from schedviz.trace.policies import Policies

#: The name of the only variant of a plan that names none.
ONLY_VARIANT = "default"


class Variant(msgspec.Struct, frozen=True, rename="camel"):
    """One scheduler, and the nodes that it runs with."""

    name: str
    patch: Patch
    #: Where the plan has it, such as `variants[2]`.
    path: str
    note: str = ""
    #: Axis of the grid -> the name of its value.
    axes: dict[str, str] = {}

    def config(self, base: dict[str, Any] | None) -> dict[str, Any] | None:
        """The KubeSchedulerConfiguration, from that of the base. None: the default one. Raises `PlanError`."""
        return with_patch(base, self.patch, path=self.path)


#: The members of a patch with their defaults. Asking msgspec for them takes longer than combining two patches.
_FIELDS: Final = [(field, {} if field.default is msgspec.NODEFAULT else field.default) for field in msgspec.structs.fields(Patch)]
_NOTHING: Final = Patch()


def expand(plan: Plan) -> list[Variant]:
    """The variants of a plan: those of the list, then those of the grid. Raises `PlanError`."""
    count = len(plan.variants) + _combinations(plan)
    trials = max(count, 1) * len(plan.all_seeds)
    if trials > MAX_TRIALS:
        raise PlanError.of("grid" if plan.grid else "variants", f"the plan has {trials:,} trials; at most {MAX_TRIALS:,} are possible")
    _check_size(plan)
    if len(set(plan.all_seeds)) < len(plan.all_seeds):
        raise PlanError.of("seeds", "expected different seeds; one stands twice")
    variants = [
        Variant(patch.name, combine([plan.common, patch], path=f"variants[{index}]"), f"variants[{index}]", patch.note)
        for index, patch in enumerate(plan.variants)
    ]
    variants += _of_grid(plan)
    variants = variants or [Variant(ONLY_VARIANT, plan.common, "common")]
    _check_names(plan, variants)
    _check_nodes(variants)
    return variants


def _combinations(plan: Plan) -> int:
    count = 1 if plan.grid else 0
    for values in plan.grid.values():
        count *= len(values)
    return count


def _check_size(plan: Plan) -> None:
    """Refuse a plan whose variants would fill the memory: a short text can describe many long variants. Raises `PlanError`."""
    combinations = _combinations(plan)
    size = (len(plan.variants) + combinations) * _size(plan.common) + sum(map(_size, plan.variants))
    size += sum(combinations // len(values) * sum(map(_size, values)) for values in plan.grid.values())
    if size > MAX_VALUES:
        message = f"the variants have {size:,} values together, with those of `common`; at most {MAX_VALUES:,} are possible"
        raise PlanError.of("grid" if plan.grid else "variants", message)


def _size(patch: Patch) -> int:
    """The number of values in a patch."""
    count, level = 0, [msgspec.structs.asdict(patch)]
    while level:
        count += len(level)
        parts = chain.from_iterable(each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list))
        level = [msgspec.structs.asdict(each) if isinstance(each, msgspec.Struct) else each for each in parts]
    return count


def _of_grid(plan: Plan) -> list[Variant]:
    if not plan.grid:
        return []
    found = []
    axes = list(plan.grid)
    for indices in product(*(range(len(values)) for values in plan.grid.values())):
        chosen: list[NamedPatch] = [plan.grid[axis][index] for axis, index in zip(axes, indices, strict=True)]
        path = f"grid.{axes[-1]}[{indices[-1]}]"
        name = ", ".join(value.name for value in chosen)
        note = " ".join(value.note for value in chosen if value.note)
        patch = combine([plan.common, combine(chosen, path=path, may_override=False)], path=path)
        found.append(Variant(name, patch, path, note, dict(zip(axes, (value.name for value in chosen), strict=True))))
    return found


def _check_nodes(variants: Sequence[Variant]) -> None:
    for variant in variants:
        if variant.patch.nodes.max_nodes > MAX_NODES:
            message = f"the variant asks for {variant.patch.nodes.max_nodes:,} nodes; at most {MAX_NODES:,} are possible"
            raise PlanError.of(f"{variant.path}.nodes", message, variant=variant.name)


def _check_names(plan: Plan, variants: Sequence[Variant]) -> None:
    faults = []
    seen: dict[str, Variant] = {}
    for variant in variants:
        if len(variant.name) > MAX_VARIANT_NAME_LENGTH:
            message = f"the name of the variant has {len(variant.name):,} characters; at most {MAX_VARIANT_NAME_LENGTH:,} are possible"
            raise PlanError([Fault(variant.path, message)])
        if variant.name in seen:
            faults.append(Fault(variant.path, f"there is another variant of this name, {seen[variant.name].path}", variant=variant.name))
        seen.setdefault(variant.name, variant)
    if plan.baseline is not None and plan.baseline not in seen:
        names = ", ".join(map(repr, list(seen)[:20]))
        faults.append(Fault("baseline", f"there is no variant {plan.baseline!r}; there are {names}"))
    if faults:
        raise PlanError(faults)


def combine(patches: Sequence[Patch], *, path: str, may_override: bool = True) -> Patch:
    """One patch that does what these do, one after the other. Without `may_override`, two that set one value differently are an error."""
    result = _NOTHING
    for patch in patches:
        members: dict[str, Any] = {}
        for field, default in _FIELDS:
            old, new = getattr(result, field.name), getattr(patch, field.name)
            if new == default:
                members[field.name] = old
                continue
            if not may_override and _disagree(old, new):
                raise PlanError.of(path, f"two axes of the grid set {field.encode_name}")
            members[field.name] = _combined(old, new, default)
        result = Patch(**members)
    return result


def _combined(old: Any, new: Any, default: Any) -> Any:
    if isinstance(new, dict):
        return _composed(old, new)
    if isinstance(new, NodesPatch):
        return _combined_nodes(old, new)
    if isinstance(new, Policies) and isinstance(old, Policies):
        return new
    return old if new == default else new


def _composed(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The merge patch that does what two do. Its nulls still remove."""
    both = dict(old)
    for key, value in new.items():
        both[key] = _composed(both[key], value) if isinstance(value, dict) and isinstance(both.get(key), dict) else value
    return both


def _combined_nodes(old: NodesPatch, new: NodesPatch) -> NodesPatch:
    return NodesPatch(
        remove=[*old.remove, *new.remove],
        count=old.count if new.count is None else new.count,
        add=[*old.add, *new.add],
        allocatable={**old.allocatable, **new.allocatable},
    )


def _disagree(old: Any, new: Any) -> bool:
    """Whether two patches set one value differently. Lists of nodes add up."""
    if isinstance(old, NodesPatch):
        return (old.count is not None and new.count is not None) or _disagree(old.allocatable, new.allocatable)
    if isinstance(old, dict) and isinstance(new, dict):
        return any(_disagree(old[key], new[key]) for key in old.keys() & new.keys())
    return old is not None and new is not None and old != new
