"""The inputs of a trial: the settings of its engine, and its objects."""

from __future__ import annotations

import random

import msgspec

from schedviz.engine import SimulationSettings
from schedviz.experiments.arrivals import Arrival, arrivals_of
from schedviz.experiments.base import BaseCluster
from schedviz.experiments.lifetimes import LifetimeSource
from schedviz.experiments.nodes import with_nodes
from schedviz.experiments.plan import Plan
from schedviz.experiments.timeline import Timeline
from schedviz.experiments.trials import Trial
from schedviz.kube.core import Pod
from schedviz.kube.meta import KubeObject
from schedviz.trace.releases import V1_27


def settings_of_trial(trial: Trial, base: BaseCluster, plan: Plan) -> SimulationSettings:
    """The settings of a trial's engine. Raises `PlanError`."""
    patch = trial.variant.patch
    shared = base.settings
    release = patch.release or shared.release
    # Gates of another release are unknown to this one.
    gates = shared.feature_gates if release == shared.release else {}
    draws = trial.seed is not None and "ties" in plan.seed_varies
    return msgspec.structs.replace(
        shared,
        config=trial.variant.config(shared.config),
        release=release,
        feature_gates={**gates, **patch.feature_gates},
        policies=patch.policies or shared.policies,
        seed=trial.seed or 0,
        first_of_tied=not draws,
        random_of_tied=draws and release != V1_27,
    )


def objects_of_trial(trial: Trial, base: BaseCluster, plan: Plan) -> list[KubeObject]:
    """The objects at the beginning of a trial, in the order in which they are loaded. Raises `PlanError`."""
    objects = _all_objects(trial, base, plan)
    return objects if plan.workload.arrivals is None else [obj for obj in objects if not _is_pending(obj)]


def timeline_of_trial(trial: Trial, base: BaseCluster, plan: Plan) -> Timeline:
    """When the pods of a trial arrive and end. Raises `PlanError`."""
    arrivals, lifetimes = plan.workload.arrivals, plan.workload.lifetimes
    seed = trial.seed or 0 if "times" in plan.seed_varies else 0
    found: list[Arrival] = []
    if arrivals is not None:
        pods = [obj for obj in _all_objects(trial, base, plan) if isinstance(obj, Pod) and _is_pending(obj)]
        found = arrivals_of(pods, arrivals, seed)
    return Timeline(found, None if lifetimes is None else LifetimeSource(lifetimes, base.finished, seed))


def _all_objects(trial: Trial, base: BaseCluster, plan: Plan) -> list[KubeObject]:
    objects = with_nodes(base.objects, trial.variant.patch.nodes, path=trial.variant.path)
    return _shuffled(objects, trial.seed) if trial.seed is not None and "order" in plan.seed_varies else objects


def _is_pending(obj: KubeObject) -> bool:
    return isinstance(obj, Pod) and not obj.spec.node_name


def _shuffled(objects: list[KubeObject], seed: int) -> list[KubeObject]:
    """The objects with the pending pods in another order, which is that of their arrival."""
    indices = [index for index, obj in enumerate(objects) if _is_pending(obj)]
    order = indices.copy()
    random.Random(f"{seed}/order").shuffle(order)  # noqa: S311 - a reproducible draw, no secret.
    shuffled = list(objects)
    for target, source in zip(indices, order, strict=True):
        shuffled[target] = objects[source]
    return shuffled
