"""A plan is decoded completely, and every error has its line and path."""

from __future__ import annotations

import re

import pytest

from schedviz.experiments.errors import PlanError
from schedviz.experiments.plans.plan_text import parse_plan

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


def test_text_that_is_not_yaml_is_rejected_with_its_line() -> None:
    # The message is libyaml's, or PyYAML's if libyaml is missing.
    (fault,) = faults("experiment: 1\nbase: [")
    assert re.fullmatch("line 2: it is not YAML: .*expected (the )?node content.*", fault)


def test_the_format_version_is_required() -> None:
    assert faults("base: {}")[0].startswith("line 1: experiment: expected `experiment: 1`")


def test_an_unknown_member_is_rejected_with_line_path_and_the_known_ones() -> None:
    (fault,) = faults(GOOD.replace("weights", "wieghts"))
    assert fault.startswith("line 7: variants[1].wieghts: unknown field; there are")
    assert "weights" in fault


def test_a_value_of_the_wrong_type_is_rejected_with_what_was_expected() -> None:
    assert faults(GOOD.replace("NodeResourcesFit: 5", "NodeResourcesFit: many"))[0].startswith(
        "line 7: variants[1].weights.NodeResourcesFit: expected"
    )


def test_an_unknown_release_is_rejected_with_the_known_ones() -> None:
    (fault,) = faults(GOOD + "    release: v1.99\n")
    assert fault.startswith("line 8: variants[1].release: expected")
    assert "v1.36" in fault


def test_a_base_has_exactly_one_source() -> None:
    assert faults("experiment: 1\nbase: {}") == ["line 2: base: expected exactly one of files, generate, session; found none"]
    assert "found files and generate" in faults("experiment: 1\nbase: {files: [a], generate: {}}")[0]


def test_two_variants_with_the_same_name_are_rejected() -> None:
    assert faults(GOOD.replace("packed", "default")) == [
        "line 6: variants[1]: variant 'default': there is another variant of this name, variants[0]"
    ]


def test_a_baseline_that_is_not_a_variant_is_rejected() -> None:
    assert faults(GOOD + "baseline: other") == ["line 8: baseline: there is no variant 'other'; there are 'default', 'packed'"]


def test_a_plan_with_too_many_trials_is_rejected_with_their_number() -> None:
    assert faults(
        "experiment: 1\nbase: {generate: {}}\nseeds: 1000\ngrid:\n  a: [" + ", ".join(f"{{name: v{i}}}" for i in range(11)) + "]"
    ) == ["line 5: grid: the plan has 11,000 trials; at most 10,000 are possible"]


def test_on_and_off_are_not_booleans() -> None:
    assert faults(GOOD.replace("weights: {NodeResourcesFit: 5}", "plugins: {ImageLocality: off}"))[0].startswith(
        "line 7: variants[1].plugins.ImageLocality: expected true or false"
    )


def test_aliases_are_rejected_because_they_can_exhaust_memory() -> None:
    assert faults("experiment: 1\nbase: &b {generate: {}}\nworkload: *b") == [
        "line 3: aliases (`*name`) are not read here; write the value again"
    ]


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "[\n"])
def test_deep_nesting_is_rejected_at_any_depth(opening: str) -> None:
    assert "nested deeper than 100 levels" in faults(opening * 100_000)[0]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("2020-13-45", "'2020-13-45' is not a valid timestamp"),
        ("!!int x", "'x' is not a valid int"),
        ('!!int ""', "'' is not a valid int"),
        ("0x_", "'0x_' is not a valid int"),
        ("!!timestamp x", "'x' is not a valid timestamp"),
        ("!!bool x", "'x' is not a valid bool"),
        ("!!map x", "expected a mapping node, but found scalar"),
        ("9" * 5000, f"'{'9' * 40}' is too long for a number"),
        ("1:" * 200 + "1", f"'{'1:' * 20}' is too long for a number"),
    ],
)
def test_a_value_that_its_type_cannot_hold_is_rejected_with_its_line(value: str, message: str) -> None:
    assert faults(f"experiment: 1\nbase: {value}") == [f"line 2: it is not YAML: {message}"]


def test_a_duplicate_key_is_rejected() -> None:
    assert faults(GOOD + "variants: []\n") == ["line 8: it is not YAML: the key 'variants' stands twice in a mapping"]


def test_a_short_plan_with_many_long_variants_is_rejected() -> None:
    shared = ", ".join(f"m{number}: 1" for number in range(2000))
    values = ", ".join(f"{{name: v{number}}}" for number in range(30))
    (fault,) = faults(f"experiment: 1\nbase: {{generate: {{}}}}\ncommon: {{config: {{{shared}}}}}\ngrid:\n  a: [{values}]\n  b: [{values}]")
    assert fault.startswith("line 5: grid: the variants have 1,8")
    assert "at most 1,000,000 are possible" in fault


def test_a_variant_name_that_cannot_be_stored_is_rejected() -> None:
    axes = "".join(f"  a{number}: [{{name: {'n' * 200}}}]\n" for number in range(6))
    assert faults(f"experiment: 1\nbase: {{generate: {{}}}}\ngrid:\n{axes}") == [
        "line 9: grid.a5[0]: the name of the variant has 1,210 characters; at most 1,000 are possible"
    ]


def test_a_variant_with_too_many_nodes_is_rejected() -> None:
    text = "experiment: 1\nbase: {generate: {}}\nvariants:\n- name: a\n  nodes: {add: [{like: n, count: 60000}, {like: n, count: 60000}]}"
    assert faults(text) == ["line 5: variants[0].nodes: variant 'a': the variant asks for 120,000 nodes; at most 100,000 are possible"]


def test_a_duplicate_seed_is_rejected() -> None:
    assert faults(f"{GOOD}seeds: [3, 5, 3]") == ["line 8: seeds: expected different seeds; one stands twice"]
