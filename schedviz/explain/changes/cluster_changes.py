"""Changes around the pod: a node, and the pods on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.nodeunschedulable.node_unschedulable import CORDON
from schedviz.engine.framework.types import NodeInfo
from schedviz.explain.changes.change import CREATED_AGAIN, IF_ACCURATE, NOT_CREATED_AGAIN, Change, named, shell
from schedviz.explain.changes.mistyped_labels import corrections, mistyped_labels
from schedviz.explain.changes.more_nodes import HOSTNAME
from schedviz.explain.changes.pod_changes import selects_nodes, selects_workers
from schedviz.explain.changes.port_holders import held_ports
from schedviz.explain.explanation import Explanation, NodeVerdict
from schedviz.explain.mistyped import OF_MACHINE
from schedviz.explain.reserved_nodes import is_for_other_pods, is_of_control_plane, is_out_of_use
from schedviz.explain.victims import belongs_to_system
from schedviz.kube.core import Pod
from schedviz.trace.phrase import phrase

replace = msgspec.structs.replace

#: The taints that the node lifecycle controller sets; that of a cordoned node is one of them.
_NODE_TAINT_PREFIX: Final = "node.kubernetes.io/"
#: What the removal of a pod costs less if it uses a host port that the pod requests: an additional node comes after it.
_HOLDS_PORT: Final = 3
#: Nodes tried per kind of change: those with the fewest other objections.
_MAX_TRIED: Final = 3


def changes_around(dry_run: DryRun, explanation: Explanation) -> Iterator[Change]:
    """All single changes to nodes and other pods that answer an objection."""
    rows = {verdict.node: row for row, verdict in enumerate(explanation.matrix)}
    required = _required_labels(dry_run.pod.pod)
    yield from corrections(dry_run, required)
    changes_of: list[tuple[str, Callable[[NodeInfo, Pod], Change | None]]] = [
        (names.NODE_UNSCHEDULABLE, _uncordon),
        (names.TAINT_TOLERATION, _repair),
        (names.TAINT_TOLERATION, _untaint),
    ]
    # A node does not get a mistyped label.
    if not mistyped_labels(dry_run, required):
        changes_of.append((names.NODE_AFFINITY, _label))
    for plugin, change_of in changes_of:
        for verdict in _where(explanation, plugin):
            info = dry_run.rows.infos[rows[verdict.node]]
            change = change_of(info, dry_run.pod.pod) if info.node is not None else None
            if change is not None:
                yield replace(change, is_unlikely=_is_unlikely(change, info, dry_run, explanation))
    yield from _victims(dry_run, explanation, rows)


def _is_unlikely(change: Change, info: NodeInfo, dry_run: DryRun, explanation: Explanation) -> bool:
    """Whether the pod selects nodes that lack something else than this label, or has other nodes than those of the control plane."""
    if change.kind == "label":
        return selects_nodes(explanation)
    taints = info.node.spec.taints if info.node is not None else ()
    return change.kind == "taint" and any(map(is_of_control_plane, taints)) and selects_workers(dry_run, explanation)


def _where(explanation: Explanation, plugin: str) -> list[NodeVerdict]:
    """Nodes that the plugin rejects, those with the fewest other objections first."""
    objected = [verdict for verdict in explanation.matrix if any(objection.plugin == plugin for objection in verdict.objections)]
    return sorted(objected, key=lambda verdict: len(verdict.objections))[:_MAX_TRIED]


def _uncordon(info: NodeInfo, _pod: Pod) -> Change | None:
    node = info.node
    assert node is not None
    taints = tuple(taint for taint in node.spec.taints if taint.key != CORDON.key)
    changed = replace(node, spec=replace(node.spec, unschedulable=False, taints=taints))
    # The node lifecycle controller adds the taint because of the same field.
    against = frozenset({names.NODE_UNSCHEDULABLE, names.TAINT_TOLERATION})
    return Change(
        "uncordon", phrase("uncordon {node}", node=node.name), shell("kubectl", "uncordon", names=[node.name]), against, updated=(changed,)
    )


def _repair(info: NodeInfo, _pod: Pod) -> Change | None:
    """The node without the taints of an unhealthy node, and with the conditions of a healthy one."""
    node = info.node
    assert node is not None
    taints = tuple(taint for taint in node.spec.taints if taint.key == CORDON.key or not taint.key.startswith(_NODE_TAINT_PREFIX))
    if len(taints) == len(node.spec.taints):
        return None
    conditions = tuple(replace(each, status="True" if each.type == "Ready" else "False") for each in node.status.conditions)
    healthy = replace(node, spec=replace(node.spec, taints=taints), status=replace(node.status, conditions=conditions))
    return Change(
        "repair",
        phrase("make {node} `Ready` again", node=node.name),
        shell("kubectl", "describe", "node", names=[node.name]),
        frozenset({names.TAINT_TOLERATION}),
        updated=(healthy,),
    )


def _untaint(info: NodeInfo, pod: Pod) -> Change | None:
    """The node without its hard taints, unless one of them marks it as out of use or for other pods."""
    node = info.node
    assert node is not None
    hard = [taint for taint in node.spec.taints if taint.effect != "PreferNoSchedule"]
    if not hard or any(is_out_of_use(taint) or is_for_other_pods(taint, pod) for taint in hard):
        return None
    changed = replace(node, spec=replace(node.spec, taints=tuple(taint for taint in node.spec.taints if taint not in hard)))
    text = "` and `".join(taint.to_string() for taint in hard)
    kubectl = shell("kubectl", "taint", "nodes", names=[node.name, *(f"{taint.key}:{taint.effect}-" for taint in hard)])
    template = "remove the taint `{taints}` from {node}" if len(hard) == 1 else "remove the taints `{taints}` from {node}"
    title = phrase(template, taints=text, node=node.name)
    return Change("taint", title, kubectl, frozenset({names.TAINT_TOLERATION}), updated=(changed,))


def _label(info: NodeInfo, pod: Pod) -> Change | None:
    """The node with the labels that the pod's nodeSelector, or one of its required terms, requires."""
    node = info.node
    assert node is not None
    missing = {key: value for key, value in _required_labels(pod).items() if node.metadata.labels.get(key) != value}
    if not missing or HOSTNAME in missing or not OF_MACHINE.isdisjoint(missing):
        return None
    labels = {**node.metadata.labels, **missing}
    label_texts = [f"{key}={value}" for key, value in missing.items()]
    # An existing label with another value has a purpose: it may describe the machine. So there is no command to copy that destroys it.
    replaced = any(key in node.metadata.labels for key in missing)
    template = "label {node} with `{labels}`, if the label is accurate for that node" if replaced else "label {node} with `{labels}`"
    return Change(
        "label",
        phrase(template, node=node.name, labels="`, `".join(label_texts)),
        "" if replaced else shell("kubectl", "label", "node", names=[node.name, *label_texts]),
        frozenset({names.NODE_AFFINITY}),
        amount=float(replaced),
        # The sentence says so of a label that is replaced.
        consequence="" if replaced else IF_ACCURATE,
        updated=(replace(node, metadata=replace(node.metadata, labels=labels)),),
    )


def _required_labels(pod: Pod) -> dict[str, str]:
    selector = dict(pod.spec.node_selector)
    affinity = pod.spec.affinity
    required = affinity.node_affinity.required if affinity is not None and affinity.node_affinity is not None else None
    for term in required.node_selector_terms[:1] if required is not None else ():
        for expression in term.match_expressions:
            if expression.operator == "In" and expression.values:
                selector.setdefault(expression.key, expression.values[0])
            elif expression.operator == "Exists":
                selector.setdefault(expression.key, "")
    return selector


def _victims(dry_run: DryRun, explanation: Explanation, rows: dict[str, int]) -> Iterator[Change]:
    """Pods that leave a node: a verified `LeavingPods`, with them removed from the cluster. One that only frees a port comes early."""
    is_first_holder = True
    for room in explanation.room:
        on_node = dry_run.rows.infos[rows[room.node]].pods
        victims = tuple(info.pod for info in on_node if info.key in room.pods)
        if any(map(belongs_to_system, victims)):
            continue
        text = named(victims)
        # Pods of the same or a higher priority are worth as much: to delete one is no fix to copy.
        is_lower = len(victims) == 1 and (victims[0].spec.priority or 0) < dry_run.pod.priority
        kubectl = shell("kubectl", "delete", "pod", "-n", victims[0].namespace, names=[victims[0].name]) if is_lower else ""
        ports = held_ports(dry_run, dry_run.rows.infos[rows[room.node]], room.pods)
        title = (
            phrase("stop or move {pods}, which uses the host port {port} on {node}", pods=text, port=ports[0], node=room.node)
            if len(victims) == len(ports) == 1
            else phrase("remove {pods} from {node}", pods=text, node=room.node)
        )
        discount = _HOLDS_PORT if ports and is_first_holder else 0
        is_first_holder = is_first_holder and not ports
        yield Change(
            "victim",
            title,
            kubectl,
            frozenset({names.NODE_RESOURCES_FIT, names.NODE_PORTS}),
            amount=1 - 1 / (1 + len(victims)),
            discount=discount,
            deleted=victims,
            consequence="" if len(victims) > 1 else CREATED_AGAIN if victims[0].metadata.owner_references else NOT_CREATED_AGAIN,
        )
