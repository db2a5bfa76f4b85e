"""A plan is decoded whole, and what is wrong has its line and path."""

from __future__ import annotations

import pytest

from schedviz.experiments.errors import PlanError
from schedviz.experiments.reading import parse_plan

GOOD = """\
experiment: 1
base:
  generate: {shape: basic, nodes: 3, pods: 5}
variants:
  - name: default
  - name: packed
    weights: {NodeResourcesFit: 5}
"""


def faults(text: str) -> list[str]:
    with pytest.raises(PlanError) as caught:
        parse_plan(text)
    return [str(fault) for fault in caught.value.faults]


def test_a_plan_has_its_variants_in_order() -> None:
    assert [variant.name for variant in parse_plan(GOOD).variants] == ["default", "packed"]


def test_a_plan_without_variants_has_one() -> None:
    assert [variant.name for variant in parse_plan("experiment: 1\nbase: {generate: {}}").variants] == ["default"]


def test_text_that_is_no_yaml_is_refused_with_its_line() -> None:
    assert faults("experiment: 1\nbase: [") == ["line 2: it is not YAML: expected the node content, but found '<stream end>'"]


def test_the_version_of_the_format_must_be_named() -> None:
    assert faults("base: {}")[0].startswith("line 1: experiment: expected `experiment: 1`")


def test_an_unknown_member_is_refused_with_line_path_and_the_known_ones() -> None:
    (fault,) = faults(GOOD.replace("weights", "wieghts"))
    assert fault.startswith("line 7: variants[1].wieghts: unknown field; there are")
    assert "weights" in fault


def test_a_value_of_the_wrong_type_is_refused_with_what_was_expected() -> None:
    assert faults(GOOD.replace("NodeResourcesFit: 5", "NodeResourcesFit: many"))[0].startswith(
        "line 7: variants[1].weights.NodeResourcesFit: expected"
    )


def test_an_unknown_release_is_refused_with_the_known_ones() -> None:
    (fault,) = faults(GOOD + "    release: v1.99\n")
    assert fault.startswith("line 8: variants[1].release: expected")
    assert "v1.36" in fault


def test_a_base_has_exactly_one_source() -> None:
    assert faults("experiment: 1\nbase: {}") == ["line 2: base: expected exactly one of files, generate, session; found none"]
    assert "found files and generate" in faults("experiment: 1\nbase: {files: [a], generate: {}}")[0]


def test_two_variants_of_one_name_are_refused() -> None:
    assert faults(GOOD.replace("packed", "default")) == [
        "line 6: variants[1]: variant 'default': another variant has the same name: variants[0]"
    ]


def test_a_baseline_that_is_no_variant_is_refused() -> None:
    assert faults(GOOD + "baseline: other") == ["line 8: baseline: there is no variant 'other'; there are 'default', 'packed'"]


def test_a_plan_with_too_many_trials_is_refused_with_their_number() -> None:
    assert faults(
        "experiment: 1\nbase: {generate: {}}\nseeds: 1000\ngrid:\n  a: [" + ", ".join(f"{{name: v{i}}}" for i in range(11)) + "]"
    ) == ["line 5: grid: the plan has 11,000 trials; at most 10,000 are possible"]


def test_on_and_off_are_no_booleans() -> None:
    assert faults(GOOD.replace("weights: {NodeResourcesFit: 5}", "plugins: {ImageLocality: off}"))[0].startswith(
        "line 7: variants[1].plugins.ImageLocality: expected true or false"
    )


def test_aliases_and_deep_nesting_are_refused_because_they_can_fill_the_memory() -> None:
    assert faults("experiment: 1\nbase: &b {generate: {}}\nworkload: *b") == [
        "line 3: aliases (`*name`) are not read here; write the value again"
    ]
    assert faults("base: " + "[" * 5000)[0].startswith(("lists and mappings are nested too deep", "line"))
