"""What a trial runs with: the settings of its engine, and its objects."""

from __future__ import annotations

import random
from collections.abc import Callable

import msgspec

from schedviz.engine import SimulationSettings
from schedviz.experiments.inputs.arrivals import Arrival, arrivals_of
from schedviz.experiments.inputs.base_cluster import BaseCluster, is_pending
from schedviz.experiments.inputs.lifetimes import LifetimeSource
from schedviz.experiments.inputs.load import with_load
from schedviz.experiments.inputs.nodes import with_nodes
from schedviz.experiments.inputs.timeline import Timeline
from schedviz.experiments.plans.plan import Plan
from schedviz.experiments.plans.trials import Trial
from schedviz.kube.core import Node, Pod
from schedviz.kube.meta import KubeObject
from schedviz.trace.releases import V1_27


def settings_of_trial(trial: Trial, base: BaseCluster, plan: Plan) -> SimulationSettings:
    """The settings of a trial's engine. Raises `PlanError`."""
    patch = trial.variant.patch
    shared = base.settings
    release = patch.release or shared.release
    # Gates of another release are unknown to this one.
    gates = shared.feature_gates if release == shared.release else {}
    takes_first = _takes_first_of_tied(trial, plan)
    return msgspec.structs.replace(
        shared,
        config=trial.variant.config(shared.config),
        release=release,
        feature_gates={**gates, **patch.feature_gates},
        policies=patch.policies or shared.policies,
        seed=trial.seed or 0,
        first_of_tied=takes_first,
        random_of_tied=not takes_first and release != V1_27,
        first_of_tied_v1_36=patch.ties == "first" or shared.first_of_tied_v1_36,
    )


def _takes_first_of_tied(trial: Trial, plan: Plan) -> bool:
    ties = trial.variant.patch.ties
    return ties == "first" if ties is not None else trial.seed is None or "ties" not in plan.seed_varies


def objects_of_trial(trial: Trial, base: BaseCluster, plan: Plan) -> list[KubeObject]:
    """The objects at the beginning of a trial, in the order in which they are loaded. Raises `PlanError`."""
    objects = all_objects(trial, base, plan)
    return objects if plan.workload.arrivals is None else [obj for obj in objects if not is_pending(obj)]


def timeline_of_trial(trial: Trial, base: BaseCluster, plan: Plan) -> Timeline:
    """When the pods of a trial arrive and end. Raises `PlanError`."""
    arrivals, lifetimes = plan.workload.arrivals, plan.workload.lifetimes
    seed = trial.seed or 0 if "times" in plan.seed_varies else 0
    found: list[Arrival] = []
    if arrivals is not None:
        pods = [obj for obj in all_objects(trial, base, plan) if isinstance(obj, Pod) and is_pending(obj)]
        found = arrivals_of(pods, arrivals, seed)
    return Timeline(found, None if lifetimes is None else LifetimeSource(lifetimes, base.finished, seed))


def all_objects(trial: Trial, base: BaseCluster, plan: Plan) -> list[KubeObject]:
    """The objects of a trial, with the pods that arrive later. Raises `PlanError`."""
    objects = with_nodes(base.objects, trial.variant.patch.nodes, path=trial.variant.path)
    if trial.seed is not None and "nodes" in plan.seed_varies:
        objects = _shuffled(objects, trial.seed, "nodes", lambda obj: isinstance(obj, Node))
    if trial.seed is not None and "order" in plan.seed_varies:
        objects = _shuffled(objects, trial.seed, "order", is_pending)
    return objects if plan.workload.load is None else with_load(objects, plan.workload.load, seed=trial.seed or 0)


def _shuffled(objects: list[KubeObject], seed: int, purpose: str, is_chosen: Callable[[KubeObject], bool]) -> list[KubeObject]:
    """The objects with the chosen ones in another order among themselves. The order of pending pods is that of their arrival."""
    places = [index for index, obj in enumerate(objects) if is_chosen(obj)]
    order = places.copy()
    random.Random(f"{seed}/{purpose}").shuffle(order)  # noqa: S311 - a reproducible draw, no secret.
    shuffled = list(objects)
    for place, index in zip(places, order, strict=True):
        shuffled[place] = objects[index]
    return shuffled
