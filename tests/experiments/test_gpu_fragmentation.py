"""The plan of docs/gpu-fragmentation.md on its small cluster, and its policies."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schedviz.experiments.plans.plan_text import read_plan
from schedviz.experiments.plans.validation import CheckedPlan, check_plan
from schedviz.experiments.results.document import results_of
from schedviz.experiments.trials.pool import TrialRunner
from schedviz.experiments.trials.run_trial import TrialRun
from schedviz.experiments.trials.usage_log import UsageLog
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

FOLDER = ROOT / "docs/experiments/gpu-fragmentation"


@pytest.fixture(scope="module")
def small() -> Iterator[CheckedPlan]:
    """The small plan, whose modules are unloaded afterwards."""
    path = list(sys.path)
    yield check_plan(read_plan(FOLDER / "small.yaml"), FOLDER, is_trusted=True)
    sys.path[:] = path
    for file in FOLDER.glob("*.py"):
        sys.modules.pop(file.stem, None)


def finished(small: CheckedPlan, variant: str) -> TrialRun:
    run = TrialRun(next(trial for trial in small.trials if trial.variant.name == variant), small.base, small.plan)
    run.run()
    return run


def policy(run: TrialRun) -> Any:
    """The user's plugin of a trial."""
    (framework,) = run.simulation.scheduler.state.profiles.values()
    return next(plugin._plugin for plugin in framework.plugins.by_name.values() if hasattr(plugin, "_plugin"))


def test_the_small_plan_has_the_same_variants_as_the_large_one() -> None:
    full, small = (read_plan(FOLDER / name) for name in ("plan.yaml", "small.yaml"))
    assert full.variants == small.variants
    assert (full.plan.common, full.plan.code, full.plan.workload.load) == (small.plan.common, small.plan.code, small.plan.workload.load)


def test_every_policy_runs_and_the_plot_shows_it(small: CheckedPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = TrialRunner(small.plan, small.trials, small.measures, small.base)
    found = [runner.run(trial.number) for trial in small.trials if trial.seed == 1]
    assert [result.error for result in found] == [""] * len(small.variants)
    assert all(0 < result.values["unallocatedGpus.100"] < 0.2 for result in found)
    monkeypatch.syspath_prepend(FOLDER)
    import plot

    drawn = plot.svg(results_of(small.experiment, found), Path(plot.__file__).with_name("published.csv"))
    assert drawn.count("<polyline") == len(small.variants)


@pytest.mark.parametrize("variant", ["Random", "Packing", "FGD"])
def test_every_gpu_share_is_either_free_or_assigned_once(small: CheckedPlan, variant: str) -> None:
    plugin = policy(finished(small, variant))
    used = np.zeros_like(plugin.nodes["free"])
    for row, gpus, milli in plugin._assigned.values():
        used[row, gpus] += milli
    whole = np.where(np.arange(used.shape[1]) < plugin.nodes["gpus"][:, None], 1000, 0)
    assert ((used + plugin.nodes["free"]) == whole).all()
    assert used.max() <= 1000


def test_a_deleted_pod_releases_its_gpus(small: CheckedPlan) -> None:
    run = finished(small, "BestFit")
    plugin = policy(run)
    key = next(iter(plugin._assigned))
    before = int(plugin.nodes["free"].sum())
    pod = run.simulation.cluster.find("Pod", key)
    plugin.object_changed("DELETED", pod)
    plugin.object_changed("DELETED", pod)
    assert plugin.nodes["free"].sum() > before
    plugin.object_changed("MODIFIED", pod)
    plugin._place_bound_pods()
    assert plugin.nodes["free"].sum() == before


def test_a_restored_policy_continues_identically(small: CheckedPlan) -> None:
    trial = next(trial for trial in small.trials if trial.variant.name == "FGD")
    run = TrialRun(trial, small.base, small.plan)
    whole = finished(small, "FGD")
    run._limits = type(run._limits)(cycles=60)
    run.run()
    run.simulation = type(run.simulation).restore(run.simulation.checkpoint())
    run._limits, run.ended = small.plan.limits, ""
    run._usage = UsageLog(run.simulation)
    run.run()
    assert run.finished().placements == whole.finished().placements


def test_fragmentation_is_the_free_share_that_typical_pods_cannot_use(small: CheckedPlan) -> None:
    del small
    from gpu_policies import Fragmentation
    from gpu_sharing import Request

    measure = Fragmentation(Counter({Request(4000, 1, 600): 3, Request(8000, 2, 1000): 1}), 1.0)
    free = np.array([[1000, 500, 0, 0], [1000, 1000, 0, 0]])
    # The share cannot use the 500; the two whole GPUs fit on the second node alone, and on no node without enough cpu.
    assert measure.amounts(free, np.array([9000, 9000]), ["", ""]).tolist() == [0.75 * 500 + 0.25 * 1500, 0.0]
    assert measure.amounts(free, np.array([6000, 6000]), ["", ""]).tolist() == [0.75 * 500 + 0.25 * 1500, 0.25 * 2000]


def test_a_pod_that_requests_another_gpu_model_can_use_no_gpu(small: CheckedPlan) -> None:
    del small
    from gpu_policies import Fragmentation
    from gpu_sharing import Request

    measure = Fragmentation(Counter({Request(1000, 1, 1000, ("T4",)): 1}), 1.0)
    assert measure.amounts(np.array([[1000], [1000]]), np.array([9000, 9000]), ["T4", "P100"]).tolist() == [0.0, 1000.0]
