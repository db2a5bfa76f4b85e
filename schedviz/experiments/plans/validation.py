"""Validates a whole plan before anything runs: loads the base, and builds the engine of every variant."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from schedviz.engine import ConfigurationError, Simulation
from schedviz.experiments.errors import Fault, PlanError
from schedviz.experiments.inputs.base_cluster import BaseCluster, SessionLoader, load_base, no_sessions
from schedviz.experiments.inputs.trial_inputs import all_objects, settings_of_trial, timeline_of_trial
from schedviz.experiments.measures import Measure, measures_named
from schedviz.experiments.plans.code import load_code
from schedviz.experiments.plans.plan import Patch, Plan, Tune
from schedviz.experiments.plans.plan_text import PlanText
from schedviz.experiments.plans.trials import Trial
from schedviz.experiments.plans.variants import Variant
from schedviz.experiments.prices import validate_prices
from schedviz.experiments.results.document import Experiment
from schedviz.experiments.trials.run_trial import TrialRun, TrialStopped
from schedviz.experiments.tuning.goal import constraint_columns
from schedviz.experiments.tuning.space import Space
from schedviz.kube.core import Pod
from schedviz.kube.meta import KubeObject

#: How long the estimate runs one trial.
_SAMPLE_SECONDS: Final = 1.0
#: A plan with this many faults is not checked further.
_MAX_FAULTS: Final = 100


def _allow_any(_pods: int) -> None:
    pass


class CheckedPlan(msgspec.Struct, frozen=True):
    """A validated plan, with everything that its trials share."""

    text: str
    plan: Plan
    variants: list[Variant]
    trials: list[Trial]
    measures: list[Measure]
    base: BaseCluster
    #: The folder of the plan, which has its code.
    folder: Path = Path()
    #: Called with the number of pods that `workload.load` adds for a variant. May raise `PlanError`.
    require_few_added: Callable[[int], None] = _allow_any

    @property
    def baseline(self) -> str:
        """The name of the variant with which the others are compared."""
        return self.experiment.baseline

    @property
    def experiment(self) -> Experiment:
        """The parts that its results need."""
        infos = [measure.info for measure in self.measures]
        return Experiment(self.text, self.plan, self.variants, self.trials, infos, self.base.nodes, self.base.pending)


def check_plan(
    read: PlanText,
    folder: Path,
    *,
    session: SessionLoader = no_sessions,
    base: BaseCluster | None = None,
    is_trusted: bool = False,
    between_variants: Callable[[], None] = lambda: None,
    require_few_added: Callable[[int], None] = _allow_any,
) -> CheckedPlan:
    """The plan with its base, unless that is loaded already, and its trials. Paths are relative to `folder`.

    `is_trusted`: the code of the plan may run. `between_variants` is called before each variant, and may raise an exception to end the
    check. `require_few_added` is called with the number of pods that `workload.load` adds for a variant, and may raise `PlanError`.

    Raises `PlanError` with the line of each fault.
    """
    try:
        loaded = load_base(read.plan, folder, session=session) if base is None else base
        return _checked(read, folder, loaded, between_variants, is_trusted=is_trusted, require_few_added=require_few_added)
    except PlanError as error:
        raise read.located(error) from None


def _checked(
    read: PlanText,
    folder: Path,
    base: BaseCluster,
    between_variants: Callable[[], None],
    *,
    is_trusted: bool,
    require_few_added: Callable[[int], None],
) -> CheckedPlan:
    plan = read.plan
    measures = measures_named(plan.measures, load_code(plan.code, folder, is_trusted=is_trusted))
    checked = CheckedPlan(read.text, plan, read.variants, read.trials, measures, base, folder, require_few_added)
    if plan.prices is not None:
        validate_prices(plan.prices, base.objects)
    timeline_of_trial(checked.trials[0], base, plan)
    faults: list[Fault] = []
    for variant in read.variants:
        between_variants()
        faults += faults_of(variant, checked)
        if len(faults) >= _MAX_FAULTS:
            raise PlanError(faults)
    faults += _faults_of_seeds(plan)
    if plan.tune is not None:
        faults += _faults_of_tuning(plan.tune, checked)
    if faults:
        raise PlanError(faults)
    return checked


def _faults_of_seeds(plan: Plan) -> list[Fault]:
    """Seeds must vary something: trials that cannot differ would look like certain results."""
    arrivals, lifetimes = plan.workload.arrivals, plan.workload.lifetimes
    is_drawn = lifetimes is not None or (arrivals is not None and arrivals.source is None and arrivals.distribution == "poisson")
    changed = {"ties": True, "order": arrivals is None or arrivals.source is None, "times": is_drawn, "nodes": True}
    if plan.seeds is None or plan.workload.load is not None or any(changed[each] for each in plan.seed_varies):
        return []
    possible = ", ".join(name for name, is_possible in changed.items() if is_possible)
    return [Fault("seedVaries", f"seeds would change nothing in this workload, so that all trials of a variant were equal; add {possible}")]


def _faults_of_tuning(tune: Tune, checked: CheckedPlan) -> list[Fault]:
    """What is wrong with the goal, and with the candidates at the corners of the space."""
    known = {each.name for each in checked.measures}
    faults = []
    for path, column in (("tune.minimize", tune.minimize), ("tune.maximize", tune.maximize), *constraint_columns(tune)):
        if column is not None and column.partition(".")[0] not in known:
            faults.append(Fault(path, f"the plan has no measure {column.partition('.')[0]!r}; it has {', '.join(sorted(known))}"))
    corners = Space(tune, base=baseline_patch(checked)).corners()
    faults += [msgspec.structs.replace(fault, path=variant.path) for variant in corners for fault in faults_of(variant, checked)]
    return faults


def baseline_patch(checked: CheckedPlan) -> Patch:
    """What the baseline changes, and candidates of a search change further."""
    return next(variant.patch for variant in checked.variants if variant.name == checked.baseline)


def faults_of(variant: Variant, checked: CheckedPlan) -> list[Fault]:
    """Why a variant cannot run."""
    trial = Trial(0, variant)
    try:
        settings = settings_of_trial(trial, checked.base, checked.plan)
        Simulation(settings)
        objects = all_objects(trial, checked.base, checked.plan)
        if checked.plan.workload.load is not None:
            checked.require_few_added(_pods(objects) - _pods(checked.base.objects))
    except ConfigurationError as error:
        release = variant.patch.release or checked.base.settings.release
        path = next((f"{variant.path}.{name}" for name in _suspects(variant, error.path)), variant.path)
        return [Fault(path, f"kube-scheduler {release} refuses it: {error}", variant=variant.name)]
    except PlanError as error:
        return [msgspec.structs.replace(fault, variant=variant.name) for fault in error.faults]
    return []


def _pods(objects: Iterable[KubeObject]) -> int:
    return sum(isinstance(obj, Pod) for obj in objects)


def _suspects(variant: Variant, path: str) -> Sequence[str]:
    """The members of a variant that can have caused an error at this path of the configuration, the most likely first."""
    patch = variant.patch
    if path.startswith("featureGates."):
        return [f"featureGates.{path.removeprefix('featureGates.')}", "featureGates"]
    if path.startswith("percentageOfNodesToScore") and patch.percentage_of_nodes_to_score is not None:
        return ["percentageOfNodesToScore"]
    if ".pluginConfig" in path and patch.plugin_args:
        return ["pluginArgs"]
    names = {"pluginArgs": patch.plugin_args, "plugins": patch.plugins, "weights": patch.weights, "config": patch.config}
    return [name for name, value in names.items() if value]


class Estimate(msgspec.Struct, frozen=True):
    """How long an experiment may take, in seconds of one core."""

    trials: int
    seconds_per_trial: float

    @property
    def seconds(self) -> float:
        """The total of all trials."""
        return self.trials * self.seconds_per_trial


def estimate(checked: CheckedPlan) -> Estimate:
    """Run the first trial for a second, and extrapolate. Later cycles of a trial can be slower or faster than the first ones."""
    began = time.perf_counter()
    run = TrialRun(checked.trials[0], checked.base, checked.plan, stop=lambda: time.perf_counter() - began > _SAMPLE_SECONDS)
    loaded = time.perf_counter()
    try:
        run.run()
    except TrialStopped:
        share = run.cycles / max(checked.base.pending, run.cycles)
    else:
        share = 1.0
    return Estimate(len(checked.trials), (loaded - began) + (time.perf_counter() - loaded) / max(share, 1e-6))
