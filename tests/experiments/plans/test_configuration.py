"""A variant's differences are applied to a configuration as an engineer would write them."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine.config import load_configuration
from schedviz.experiments.errors import PlanError
from schedviz.experiments.plans.configuration import merged, with_patch
from schedviz.experiments.plans.plan import Patch


def applied(config: dict[str, Any] | None, **members: Any) -> dict[str, Any] | None:
    return with_patch(config, Patch(**members), path="variants[0]")


def score_weights(config: dict[str, Any] | None) -> dict[str, int]:
    (profile,) = load_configuration(config).profiles
    return {plugin.name: plugin.weight for plugin in profile.plugins.multi_point.enabled}


def test_a_patch_without_members_leaves_the_default_configuration() -> None:
    assert applied(None) is None


def test_a_weight_replaces_that_of_a_default_plugin() -> None:
    weights = score_weights(applied(None, weights={"NodeResourcesFit": 7}))
    assert weights["NodeResourcesFit"] == 7
    assert weights["ImageLocality"] == 1


def test_a_weight_is_set_at_the_extension_point_that_lists_the_plugin() -> None:
    config = {"profiles": [{"plugins": {"score": {"enabled": [{"name": "ImageLocality", "weight": 2}]}}}]}
    assert applied(config, weights={"ImageLocality": 9}) == {
        "profiles": [{"plugins": {"score": {"enabled": [{"name": "ImageLocality", "weight": 9}]}}}]
    }
    assert config["profiles"][0]["plugins"]["score"]["enabled"][0]["weight"] == 2  # type: ignore[index]


def test_a_disabled_plugin_is_removed_from_every_extension_point() -> None:
    config = {"profiles": [{"plugins": {"score": {"enabled": [{"name": "ImageLocality", "weight": 2}]}}}]}
    assert "ImageLocality" not in score_weights(applied(config, plugins={"ImageLocality": False}))
    (profile,) = load_configuration(applied(config, plugins={"ImageLocality": False})).profiles
    assert profile.plugins.score.enabled == ()


def test_enabling_a_plugin_removes_it_from_the_disabled_ones() -> None:
    config = {"profiles": [{"plugins": {"multiPoint": {"disabled": [{"name": "ImageLocality"}]}}}]}
    assert "ImageLocality" in score_weights(applied(config, plugins={"ImageLocality": True}))


def test_arguments_are_merged_into_those_of_the_plugin() -> None:
    config = {"profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": {"ignoredResources": ["a.b/c"]}}]}]}
    changed = applied(config, plugin_args={"NodeResourcesFit": {"scoringStrategy": {"type": "MostAllocated"}}})
    assert changed == {
        "profiles": [
            {
                "pluginConfig": [
                    {"name": "NodeResourcesFit", "args": {"ignoredResources": ["a.b/c"], "scoringStrategy": {"type": "MostAllocated"}}}
                ]
            }
        ]
    }


def test_every_profile_is_changed() -> None:
    changed = applied({"profiles": [{"schedulerName": "a"}, {"schedulerName": "b"}]}, weights={"ImageLocality": 3})
    assert changed is not None
    assert [profile["plugins"]["multiPoint"]["enabled"][0]["weight"] for profile in changed["profiles"]] == [3, 3]


def test_a_merge_patch_replaces_lists_and_removes_nulls() -> None:
    assert merged({"a": [1, 2], "b": {"c": 1, "d": 2}}, {"a": [3], "b": {"c": None}}) == {"a": [3], "b": {"d": 2}}


def test_a_configuration_of_the_wrong_shape_is_rejected() -> None:
    with pytest.raises(PlanError, match="is not a valid KubeSchedulerConfiguration"):
        applied({"profiles": ["a"]}, weights={"ImageLocality": 3})
