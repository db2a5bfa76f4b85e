"""How evenly the pods of a workload are spread over zones and nodes.

Pods belong together if one controller owns them; pods without an owner, if they have equal values of the label `app.kubernetes.io/name` or
`app` in one namespace. Other pods do not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from schedviz.experiments.measures.measure import measure
from schedviz.kube.meta import controller_of
from schedviz.kube.zones import zone_key

if TYPE_CHECKING:
    from schedviz.experiments.finished_trial import FinishedTrial
    from schedviz.kube.core import Pod

_APP_LABELS = ("app.kubernetes.io/name", "app")


@measure(
    "zoneSkew",
    title="Pods of one application in its fullest zone, less those in its emptiest: mean and largest",
    unit="pods",
    better="lower",
)
def zone_skew(trial: FinishedTrial) -> dict[str, float]:
    zones = {info.name: zone_key(info.node) for info in trial.nodes if info.node is not None}
    names = sorted(set(zones.values()) - {""})
    if len(names) < 2:
        return {}
    skews = []
    for nodes in _nodes_by_application(trial):
        counts = Counter(zones.get(node, "") for node in nodes)
        skews.append(max(counts[zone] for zone in names) - min(counts[zone] for zone in names))
    return {"mean": sum(skews) / len(skews), "max": max(skews)} if skews else {}


@measure(
    "nodeSpread",
    title="Distinct nodes of an application's pods, as a share of its pods: 100% if each is on a node of its own; mean",
    unit="share",
    better="higher",
)
def node_spread(trial: FinishedTrial) -> dict[str, float]:
    shares = [len(set(nodes)) / len(nodes) for nodes in _nodes_by_application(trial)]
    return {"mean": sum(shares) / len(shares)} if shares else {}


def _nodes_by_application(trial: FinishedTrial) -> Iterator[list[str]]:
    """The nodes of each application's pods of the workload; applications with one pod are left out."""
    nodes: dict[str, list[str]] = {}
    for key, node in trial.running.items():
        application = _application(trial.workload[key])
        if application:
            nodes.setdefault(application, []).append(node)
    return (found for found in nodes.values() if len(found) > 1)


def _application(pod: Pod) -> str:
    owner = controller_of(pod)
    if owner is not None:
        return f"{pod.namespace}/{owner.kind}/{owner.uid or owner.name}"
    label = next((pod.metadata.labels[name] for name in _APP_LABELS if name in pod.metadata.labels), "")
    return f"{pod.namespace}/{label}" if label else ""
