"""Taints: which ones the pod does not tolerate, on how many nodes, and which pods tolerate them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from schedviz.engine.framework.plugins.helper.taint import HARD_TAINT_EFFECTS
from schedviz.engine.framework.plugins.helper.taint_comparison import tolerates_taint_v1_36
from schedviz.explain.details.detail import MAX_NAMES, TaintDetail
from schedviz.explain.details.rejected_nodes import RejectedNodes
from schedviz.kube.affinity import Toleration
from schedviz.kube.core import Pod, Taint
from schedviz.trace.phrase import counted, phrase


def taint_details(rejected: RejectedNodes) -> Iterator[TaintDetail]:
    """The first untolerated taint of each node, the most frequent first."""
    counts: Counter[Taint] = Counter()
    for info in rejected.rows.infos:
        taint = _first_untolerated(rejected, info.node.spec.taints if info.node is not None else ())
        if taint is not None:
            counts[taint] += 1
    for taint, nodes in counts.most_common(MAX_NAMES):
        yield _detail(rejected, taint, nodes)


def _detail(rejected: RejectedNodes, taint: Taint, nodes: int) -> TaintDetail:
    pods = [
        info.key for node_info in rejected.everywhere.infos for info in node_info.pods if _is_tolerated_by_name(rejected, taint, info.pod)
    ]
    on = counted(nodes, "{count} node", "{count} nodes")
    sentence = phrase("the taint `{taint}` is on {nodes}", nodes=on, taint=taint.to_string())
    # That no pod tolerates it proves nothing: the pods for these nodes may not exist yet.
    if pods:
        tolerated = counted(
            len(pods),
            "{count} running pod has a toleration for this taint key",
            "{count} running pods have a toleration for this taint key",
        )
        sentence = phrase("the taint `{taint}` is on {nodes}; {tolerated}", nodes=on, taint=taint.to_string(), tolerated=tolerated)
    return TaintDetail(
        sentence=sentence.text,
        sentence_phrase=sentence,
        taint=taint.to_string(),
        nodes=nodes,
        tolerated_by=len(pods),
        pods=tuple(pods[:MAX_NAMES]),
    )


def _first_untolerated(rejected: RejectedNodes, taints: tuple[Taint, ...]) -> Taint | None:
    pod = rejected.pod.pod
    return next((taint for taint in taints if taint.effect in HARD_TAINT_EFFECTS and not _is_tolerated(rejected, taint, pod)), None)


def _is_tolerated(rejected: RejectedNodes, taint: Taint, pod: Pod) -> bool:
    return any(_tolerating(rejected, taint, pod))


def _is_tolerated_by_name(rejected: RejectedNodes, taint: Taint, pod: Pod) -> bool:
    """Whether a toleration of the pod names the taint's key. Pods of DaemonSets, most of which tolerate everything, need not name it."""
    return any(toleration.key for toleration in _tolerating(rejected, taint, pod))


def _tolerating(rejected: RejectedNodes, taint: Taint, pod: Pod) -> Iterator[Toleration]:
    compares = rejected.simulation.scheduler.state.features.taint_toleration_comparison_operators
    return (toleration for toleration in pod.spec.tolerations if tolerates_taint_v1_36(toleration, taint, compares=compares))
