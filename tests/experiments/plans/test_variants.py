"""Variants combine `common` with their own changes, and a grid expands to all its combinations."""

from __future__ import annotations

import pytest

from schedviz.experiments.errors import PlanError
from schedviz.experiments.plans.plan_text import parse_plan
from schedviz.experiments.plans.variants import Variant

HEAD = "experiment: 1\nbase: {generate: {}}\n"


def variants(text: str) -> list[Variant]:
    return parse_plan(HEAD + text).variants


GRID = """
grid:
  strategy: [{name: spread}, {name: pack, weights: {NodeResourcesFit: 5}}]
  sampling: [{name: all, percentageOfNodesToScore: 100}, {name: some}]
"""


def test_a_grid_has_every_combination() -> None:
    result = variants(GRID)
    assert [variant.name for variant in result] == ["spread, all", "spread, some", "pack, all", "pack, some"]
    assert result[2].axes == {"strategy": "pack", "sampling": "all"}
    assert (result[2].patch.weights, result[2].patch.percentage_of_nodes_to_score) == ({"NodeResourcesFit": 5}, 100)


def test_a_variant_overrides_the_common_settings() -> None:
    (variant,) = variants("common: {release: v1.36, weights: {A: 1, B: 2}}\nvariants: [{name: a, weights: {A: 3}}]")
    assert (variant.patch.release, variant.patch.weights) == ("v1.36", {"A": 3, "B": 2})


def test_two_axes_that_set_one_value_are_rejected() -> None:
    with pytest.raises(PlanError, match="two axes of the grid set release"):
        variants("grid: {a: [{name: x, release: v1.36}], b: [{name: y, release: v1.27.1}]}")


def test_two_axes_may_set_different_members_of_one_map() -> None:
    (variant,) = variants("grid: {a: [{name: x, weights: {A: 1}}], b: [{name: y, weights: {B: 1}}]}")
    assert variant.patch.weights == {"A": 1, "B": 1}


def test_nulls_of_a_variant_remove_settings_of_the_plan_and_of_the_base() -> None:
    (variant,) = variants("common: {config: {parallelism: 2, podMaxBackoffSeconds: 9}}\nvariants: [{name: a, config: {parallelism: null}}]")
    assert variant.config({"parallelism": 4}) == {"podMaxBackoffSeconds": 9}
