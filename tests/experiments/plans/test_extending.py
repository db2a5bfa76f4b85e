"""Variants are added to a plan whose trials have run: existing results are kept, and only new trials run."""

from __future__ import annotations

import msgspec
import pytest

from schedviz.experiments.errors import PlanError
from schedviz.experiments.plans.extending import ResultsNotReusable, require_same, reusable, validate_added
from schedviz.experiments.plans.plan_text import PlanText, parse_plan
from schedviz.experiments.results.document import Results, decode_results, encode_results, results_of
from schedviz.experiments.trials.pool import run_all
from tests.experiments.small_plans import checked, results

BASE = "base: {generate: {shape: basic, nodes: 4, pods: 20}}\nseeds: 2\n"
OLD = BASE + "variants: [{name: a}, {name: b, percentageOfNodesToScore: 50}]\n"
NEW = OLD.replace("50}]", "50}, {name: c, nodes: {count: 1}}]")


def read(text: str) -> PlanText:
    return parse_plan(f"experiment: 1\n{text}")


def faults(old: str, new: str) -> list[str]:
    with pytest.raises(PlanError) as caught:
        validate_added(read(old), read(new))
    return [str(fault) for fault in caught.value.faults]


def saved(text: str = OLD) -> Results:
    """The results of a plan, as they are read from a file."""
    return decode_results(encode_results(results(text)))


def test_variants_are_added_after_those_that_ran() -> None:
    validate_added(read(OLD), read(NEW))
    (fault,) = faults(OLD, NEW.replace("{name: a}", "{name: z}, {name: a}"))
    assert fault.startswith("line 4: variants[0]: variant 'z': trial 0 would be 'z, seed 1', and was 'a, seed 1'")


def test_a_variant_that_ran_cannot_be_changed() -> None:
    assert "trial 2 would be" in faults(OLD, NEW.replace("percentageOfNodesToScore: 50", "percentageOfNodesToScore: 60"))[0]


def test_a_grid_grows_along_its_first_axis() -> None:
    grid = "base: {generate: {nodes: 4, pods: 20}}\ngrid: {size: [{name: s1}%s], share: [{name: p1}, {name: p2}]}\n"
    validate_added(read(grid % ""), read(grid % ", {name: s2}"))


def test_other_members_of_the_plan_cannot_change() -> None:
    changed = faults(OLD, NEW.replace("pods: 20", "pods: 21") + "limits: {cycles: 9}\n")
    assert [fault.partition(": it cannot")[0] for fault in changed] == ["line 2: base", "line 5: limits"]


def test_a_plan_without_a_new_trial_is_rejected() -> None:
    assert faults(OLD, OLD) == ["line 4: variants: the plan adds no trial to the 4 that it had"]


def test_known_trials_are_found_by_variant_and_seed() -> None:
    new = NEW.replace("seeds: 2", "seeds: 3").replace("{name: a}", "{name: z}, {name: a}")
    assert list(reusable(saved(), read(new))) == [3, 4, 6, 7]


def test_reused_results_give_the_same_document_except_for_unknown_moves() -> None:
    earlier = saved()
    plan = checked(NEW)
    known = reusable(earlier, read(NEW))
    new = [result for result in run_all(plan, jobs=1) if result.number not in known]
    found = results_of(plan.experiment, [*known.values(), *new], volatile=False, earlier=earlier)
    whole = results(NEW)
    assert msgspec.structs.replace(found, moves=None) == msgspec.structs.replace(whole, moves=None)
    assert found.moves is not None
    assert whole.moves is not None
    assert found.moves.counts[0][1] == whole.moves.counts[0][1]
    assert found.moves.counts[0][2] is None


@pytest.mark.parametrize(
    ("earlier", "reason"),
    [
        (msgspec.structs.replace(saved(), schedviz="0.0.1"), "they are of schedviz 0.0.1"),
        (msgspec.structs.replace(saved(), plan="nonsense"), "their plan cannot be read"),
        (saved(OLD.replace("pods: 20", "pods: 9")), "they are of a plan with another base"),
    ],
    ids=["version", "plan", "base"],
)
def test_unrelated_results_are_rejected(earlier: Results, reason: str) -> None:
    with pytest.raises(ResultsNotReusable, match=reason):
        reusable(earlier, read(NEW))


def test_a_trial_with_different_values_shows_that_its_inputs_changed() -> None:
    known = reusable(saved(), read(NEW))[0]
    require_same(known, known)
    with pytest.raises(ResultsNotReusable, match="trial 0 has placed 7 now, and had 20; the base, a plugin or a measure changed"):
        require_same(known, msgspec.structs.replace(known, values={**known.values, "placed": 7.0}))
