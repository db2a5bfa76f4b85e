"""The trials of a plan: each variant with each seed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from schedviz.experiments.plans.plan import Plan
from schedviz.experiments.plans.variants import Variant


class Trial(msgspec.Struct, frozen=True):
    """One variant with one seed. `number` counts from 0, variant by variant."""

    number: int
    variant: Variant
    seed: int | None = None

    @property
    def name(self) -> str:
        """The name that people see."""
        return self.variant.name if self.seed is None else f"{self.variant.name}, seed {self.seed}"


def trials_of(plan: Plan, variants: Sequence[Variant]) -> list[Trial]:
    """All trials of a plan."""
    seeds = plan.all_seeds
    return [
        Trial(variant_index * len(seeds) + seed_index, variant, seed)
        for variant_index, variant in enumerate(variants)
        for seed_index, seed in enumerate(seeds)
    ]
