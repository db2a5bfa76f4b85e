"""Small plans and clusters for the tests of experiments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from schedviz.experiments.plans.plan_text import parse_plan
from schedviz.experiments.plans.validation import CheckedPlan, check_plan
from schedviz.experiments.results.document import Results, results_of
from schedviz.experiments.trials.pool import run_all
from schedviz.experiments.trials.trial_result import TrialResult

ZONE = "topology.kubernetes.io/zone"


def node(name: str, *, cpu: str = "4", memory: str = "8Gi", zone: str = "a", **labels: str) -> dict[str, Any]:
    amounts = {"cpu": cpu, "memory": memory, "pods": "110"}
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name, ZONE: zone, **labels}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"allocatable": amounts, "capacity": amounts}}


def pod(name: str, *, cpu: str = "1", memory: str = "1Gi", on: str = "", owner: str = "", app: str = "", **spec: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "namespace": "default", "uid": name, "labels": {"app": app} if app else {}}
    if owner:
        metadata["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": owner, "name": "owner", "uid": owner, "controller": True}]
    resources = {"requests": {"cpu": cpu, "memory": memory}}
    spec = {"containers": [{"name": "main", "image": "i", "resources": resources}], **spec}
    if on:
        spec["nodeName"] = on
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def write_cluster(folder: Path, *objects: dict[str, Any], name: str = "cluster.json") -> Path:
    path = folder / name
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
    return path


def checked(text: str, folder: Path = Path()) -> CheckedPlan:
    """A plan without its line `experiment: 1`, validated."""
    return check_plan(parse_plan(f"experiment: 1\n{text}"), folder)


def run(text: str, folder: Path = Path(), *, jobs: int = 1) -> list[TrialResult]:
    """The results of all trials, by number."""
    return sorted(run_all(checked(text, folder), jobs=jobs), key=lambda result: result.number)


def results(text: str, folder: Path = Path(), *, volatile: bool = False) -> Results:
    """The document of a plan's results."""
    plan = checked(text, folder)
    return results_of(plan.experiment, run_all(plan, jobs=1), volatile=volatile)
