"""The inputs of a trial: the settings of its engine, and its objects."""

from __future__ import annotations

import random

import msgspec

from schedviz.engine import SimulationSettings
from schedviz.experiments.base import BaseCluster
from schedviz.experiments.nodes import with_nodes
from schedviz.experiments.plan import Plan
from schedviz.experiments.trials import Trial
from schedviz.kube.core import Pod
from schedviz.kube.meta import KubeObject


def settings_of_trial(trial: Trial, base: BaseCluster, plan: Plan) -> SimulationSettings:
    """The settings of a trial's engine. Raises `PlanError`."""
    patch = trial.variant.patch
    shared = base.settings
    release = patch.release or shared.release
    # Gates of another release are unknown to this one.
    gates = shared.feature_gates if release == shared.release else {}
    return msgspec.structs.replace(
        shared,
        config=trial.variant.config(shared.config),
        release=release,
        feature_gates={**gates, **patch.feature_gates},
        policies=patch.policies or shared.policies,
        seed=trial.seed or 0,
        first_of_tied=trial.seed is None or "ties" not in plan.seed_varies,
    )


def objects_of_trial(trial: Trial, base: BaseCluster, plan: Plan) -> list[KubeObject]:
    """The objects of a trial, in the order in which they are loaded. Raises `PlanError`."""
    objects = with_nodes(base.objects, trial.variant.patch.nodes, path=trial.variant.path)
    return _shuffled(objects, trial.seed) if trial.seed is not None and "order" in plan.seed_varies else objects


def _shuffled(objects: list[KubeObject], seed: int) -> list[KubeObject]:
    """The objects with the pending pods, whose order is that of their arrival, shuffled."""
    indices = [index for index, obj in enumerate(objects) if isinstance(obj, Pod) and not obj.spec.node_name]
    order = indices.copy()
    random.Random(f"{seed}/order").shuffle(order)  # noqa: S311 - a reproducible draw, no secret.
    shuffled = list(objects)
    for target, source in zip(indices, order, strict=True):
        shuffled[target] = objects[source]
    return shuffled
