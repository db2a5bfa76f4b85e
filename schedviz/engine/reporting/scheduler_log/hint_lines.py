"""What plugins of v1.36 log when the queue evaluates their hints, from what a hint returned and the objects of its event.

Where such a value has more than one reason, the objects decide which line it is; a reason that they cannot tell apart has no line here
(see `v1_36`). Upstream: framework/plugins/*/, the functions isSchedulableAfter…
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from schedviz.engine.cache.debugger.log_line import ObjectRef
from schedviz.engine.framework.affinity_terms import all_terms_match
from schedviz.engine.framework.plugins.helper.hint_objects import has_place
from schedviz.engine.framework.resource import Resource
from schedviz.engine.framework.types import PodInfo
from schedviz.kube.core import Node, Pod
from schedviz.kube.node_affinity import required_node_affinity
from schedviz.kube.selectors import SelectorError


class HintCall(NamedTuple):
    """A hint that was evaluated for a pod, and the objects of the event; an object that is unknown is None."""

    plugin: str
    is_queue: bool
    #: The pod that waits: its key, and its version in the informers.
    key: str
    pod: Pod | None
    #: `Node`, `Pod`: the kind of the event's objects.
    kind: str
    #: The keys of the objects: "" if the event has none.
    old_key: str
    new_key: str
    old: Node | Pod | None
    new: Node | Pod | None
    #: Makes the release's PodInfo of a pod.
    pod_info: Callable[[Pod], PodInfo]

    @property
    def is_add(self) -> bool:
        """The event has no old object."""
        return not self.old_key

    @property
    def is_delete(self) -> bool:
        """The event has no new object."""
        return not self.new_key

    @property
    def is_own(self) -> bool:
        """The event is about the pod that waits."""
        return self.kind == "Pod" and self.new_key == self.key


class HintLine(NamedTuple):
    """A line without its time."""

    caller: str
    message: str
    values: tuple[tuple[str, Any], ...]
    verbosity: int = 5


_LineOfCall = Callable[[HintCall], HintLine | None]


def hint_line(call: HintCall) -> HintLine | None:
    """The line of a call of a hint; None: it logs nothing, or which line it is cannot be told."""
    line_of_call = _LINES.get(call.plugin, {}).get(call.kind)
    return None if line_of_call is None else line_of_call(call)


def _on_node(call: HintCall, caller: str, message: str, *more: tuple[str, Any]) -> HintLine:
    node = call.new_key or call.old_key
    return HintLine(caller, message, (("pod", ObjectRef.of(call.key)), ("node", ObjectRef(node)), *more))


def _about_pods(call: HintCall, caller: str, message: str, verbosity: int = 5, **others: str) -> HintLine:
    """A line with the pod and other pods by the name of their value."""
    values = [("pod", ObjectRef.of(call.key)), *((name, ObjectRef.of(key)) for name, key in others.items())]
    return HintLine(caller, message, tuple(values), verbosity)


def _fit_after_pod(call: HintCall) -> HintLine | None:
    if call.is_delete:
        if call.is_queue:
            caller, message = "fit.go:415", "another scheduled pod was deleted, and it may make the unscheduled pod schedulable"
        else:
            caller, message = "fit.go:410", "the deleted pod was unscheduled and it wouldn't make the unscheduled pod schedulable"
        return _about_pods(call, f"noderesources/{caller}", message, deletedPod=call.old_key)
    if call.is_queue:
        caller = "fit.go:435"
        message = "another scheduled pod or the target pod itself got scaled down, and it may make the unscheduled pod schedulable"
    else:
        caller = "fit.go:430"
        message = "pod got scaled down, but the modification isn't related to the resource requests of the target pod"
    return _about_pods(call, f"noderesources/{caller}", message, modifiedPod=call.new_key)


def _fit_after_node(call: HintCall) -> HintLine | None:
    if call.is_queue and call.is_add:
        return _on_node(call, "noderesources/fit.go:514", "node was added and it might fit the pod's resource requests")
    if call.is_queue:
        return _on_node(call, "noderesources/fit.go:523", "node was updated, and may now fit the pod's resource requests")
    if call.is_add or not _fits(call):
        message = "node was created or updated, but it doesn't have enough resource(s) to accommodate this pod"
        return _on_node(call, "noderesources/fit.go:509", message)
    message = "node was updated, but haven't changed the pod's resource requestments fit assessment"
    return _on_node(call, "noderesources/fit.go:519", message)


def _fits(call: HintCall) -> bool:
    """Whether the pod fits on the node without other pods. Upstream: noderesources/fit.go isFit"""
    if call.pod is None or not isinstance(call.new, Node):
        return False
    request, allocatable = call.pod_info(call.pod).spec_requests.resource, Resource.of(call.new.status.allocatable)
    plain = (
        (request.milli_cpu, allocatable.milli_cpu),
        (request.memory, allocatable.memory),
        (request.ephemeral_storage, allocatable.ephemeral_storage),
        *((amount, allocatable.scalar.get(name, 0)) for name, amount in request.scalar.items()),
    )
    return allocatable.allowed_pod_number >= 1 and all(not amount or amount <= present for amount, present in plain)


def _taints_after_node(call: HintCall) -> HintLine | None:
    if call.is_queue:
        caller = "taint_toleration.go:110"
        message = (
            "node was created or updated, and this may make the Pod rejected by TaintToleration plugin in the previous scheduling cycle"
            " schedulable"
        )
    else:
        caller = "taint_toleration.go:114"
        message = "node was created or updated, but it doesn't change the TaintToleration plugin's decision"
    return _on_node(call, f"tainttoleration/{caller}", message)


def _taints_after_pod(call: HintCall) -> HintLine | None:
    if call.is_queue:
        message = "a new toleration is added for the unschedulable Pod, and it may make it schedulable"
        return HintLine("tainttoleration/taint_toleration.go:237", message, (("pod", ObjectRef.of(call.new_key)),))
    return HintLine("tainttoleration/taint_toleration.go:241", _UNRELATED_POD, (("pod", ObjectRef.of(call.new_key)),))


_UNRELATED_POD: Final = (
    "a new toleration is added for a Pod, but it's an unrelated Pod and wouldn't change the TaintToleration plugin's decision"
)


def _unschedulable_after_node(call: HintCall) -> HintLine | None:
    if call.is_queue:
        return _on_node(call, "nodeunschedulable/node_unschedulable.go:121", "node was created or updated, pod may be schedulable now")
    message = "node was created or updated, but it doesn't make this pod schedulable"
    return _on_node(call, "nodeunschedulable/node_unschedulable.go:125", message)


def _unschedulable_after_pod(call: HintCall) -> HintLine | None:
    values = (("pod", ObjectRef.of(call.new_key)),)
    if call.is_queue:
        message = "a new toleration is added for the unschedulable Pod, and it may make it schedulable"
        return HintLine("nodeunschedulable/node_unschedulable.go:95", message, values)
    if call.is_own:
        message = "a new toleration is added for the unschedulable Pod, but it's an unrelated toleration"
        return HintLine("nodeunschedulable/node_unschedulable.go:98", message, values)
    return HintLine("nodeunschedulable/node_unschedulable.go:102", _UNRELATED_POD, values)


def _affinity_after_node(call: HintCall) -> HintLine | None:
    if call.is_queue and call.is_add:
        return _on_node(call, "nodeaffinity/node_affinity.go:141", "node was created, and matches with the pod's NodeAffinity")
    if call.is_queue:
        return _on_node(call, "nodeaffinity/node_affinity.go:154", "node was updated and the pod's NodeAffinity changed to matched")
    if call.pod is None or not isinstance(call.new, Node):
        return None
    try:
        matches = required_node_affinity(call.pod).match(call.new)
    except SelectorError:
        # The selector of the plugin's arguments rejected it before the pod's was read.
        return None
    if not matches:
        message = "node was created or updated, but the pod's NodeAffinity doesn't match"
        return _on_node(call, "nodeaffinity/node_affinity.go:136", message)
    if call.is_add:
        # The selector of the plugin's arguments rejected it.
        return None
    return _on_node(call, "nodeaffinity/node_affinity.go:151", "node updated, but the pod's NodeAffinity hasn't changed")


def _ports_after_pod(call: HintCall) -> HintLine | None:
    if call.is_queue:
        caller = "node_ports.go:157"
        message = (
            "the deleted pod and the target pod have any common port(s), returning Queue as deleting this Pod may make the Pod schedulable"
        )
    elif isinstance(call.old, Pod) and not has_place(call.old):
        caller, message = "node_ports.go:136", "the deleted pod is unscheduled and it doesn't make the target pod schedulable"
    elif isinstance(call.old, Pod) and call.pod_info(call.old).host_ports:
        caller = "node_ports.go:153"
        message = (
            "the deleted pod and the target pod don't have any common port(s), returning QueueSkip as deleting this Pod won't make the Pod"
            " schedulable"
        )
    else:
        return None
    return _about_pods(call, f"nodeports/{caller}", message, 4, deletedPod=call.old_key)


def _inter_pod_after_pod(call: HintCall) -> HintLine | None:
    if call.is_own and not call.is_add:
        message = "the target pod labels have changed and it may be schedulable now"
        return _about_pods(call, "interpodaffinity/plugin.go:180", message)
    if any(isinstance(obj, Pod) and not has_place(obj) for obj in (call.old, call.new)):
        message = "the added/updated/deleted pod is unscheduled, so it doesn't make the target pod schedulable"
        return _about_pods(call, "interpodaffinity/plugin.go:187", message, originalPod=call.old_key, modifiedPod=call.new_key)
    if call.is_add:
        if call.is_queue:
            caller, message = "plugin.go:224", "a scheduled pod was added and it matches the target pod's affinity"
        else:
            caller, message = "plugin.go:228", "a scheduled pod was added and it doesn't match the target pod's affinity"
        return _about_pods(call, f"interpodaffinity/{caller}", message, modifiedPod=call.new_key)
    if call.is_queue:
        return _inter_pod_queues(call)
    if call.is_delete:
        message = "a scheduled pod was deleted but it doesn't match the target pod's anti-affinity, nor vice versa"
        return _about_pods(call, "interpodaffinity/plugin.go:251", message, originalPod=call.old_key)
    message = "a scheduled pod was updated but it doesn't match the target pod's affinity or does match the target pod's anti-affinity"
    return _about_pods(call, "interpodaffinity/plugin.go:216", message, modifiedPod=call.new_key)


def _inter_pod_queues(call: HintCall) -> HintLine | None:
    """Why a deleted or updated pod helps."""
    if call.pod is None or not isinstance(call.old, Pod):
        return None
    anti_affinity = call.pod_info(call.pod).required_anti_affinity_terms
    if not call.is_delete:
        if all_terms_match(anti_affinity, call.old) and isinstance(call.new, Pod) and not all_terms_match(anti_affinity, call.new):
            caller = "plugin.go:212"
            message = "a scheduled pod was updated not to match the target pod's anti affinity, and the pod may be schedulable now"
        else:
            caller = "plugin.go:207"
            message = "a scheduled pod was updated to match the target pod's affinity, and the pod may be schedulable now"
        return _about_pods(call, f"interpodaffinity/{caller}", message, modifiedPod=call.new_key)
    if all_terms_match(anti_affinity, call.old):
        caller = "plugin.go:236"
        message = "a scheduled pod was deleted and it matches the target pod's anti-affinity. The pod may be schedulable now"
    else:
        caller = "plugin.go:246"
        message = "a scheduled pod was deleted and the target pod matches the deleted pod's anti-affinity. The pod may be schedulable now"
    return _about_pods(call, f"interpodaffinity/{caller}", message, originalPod=call.old_key)


def _inter_pod_after_node(call: HintCall) -> HintLine | None:
    if call.is_queue:
        return _inter_pod_queues_after_node(call)
    message = "a node is added/updated but doesn't have any topologyKey which matches pod affinity/anti-affinity"
    return _on_node(call, "interpodaffinity/plugin.go:339", message)


def _inter_pod_queues_after_node(call: HintCall) -> HintLine | None:
    """The first term to which the node matters, those of affinity first."""
    if call.pod is None or not isinstance(call.new, Node) or (not call.is_add and not isinstance(call.old, Node)):
        return None
    info, now = call.pod_info(call.pod), call.new.metadata.labels
    before = call.old.metadata.labels if isinstance(call.old, Node) and not call.is_add else None
    for key in (term.topology_key for term in info.required_affinity_terms):
        if before is None and key in now:
            message = "A node with a matched pod affinity topologyKey was added and it may make the pod schedulable"
            return _on_node(call, "interpodaffinity/plugin.go:275", message)
        if before is not None and key in now and key not in before:
            message = "A node got updated to have the topology key of pod affinity, which may make the pod schedulable"
            return _on_node(call, "interpodaffinity/plugin.go:286", message)
        if before is not None and key in now and before[key] != now[key]:
            message = "A node is moved to a different domain of pod affinity, which may make the pod schedulable"
            return _on_node(call, "interpodaffinity/plugin.go:293", message)
    for key in (term.topology_key for term in info.required_anti_affinity_terms):
        if before is None:
            return _on_node(call, "interpodaffinity/plugin.go:315", "A node was added and it may make the pod schedulable")
        if key in before and key not in now:
            message = "A node got updated to not have the topology key of pod anti-affinity, which may make the pod schedulable"
            return _on_node(call, "interpodaffinity/plugin.go:327", message)
        if key in before and before[key] != now[key]:
            message = "A node is moved to a different domain of pod anti-affinity, which may make the pod schedulable"
            return _on_node(call, "interpodaffinity/plugin.go:334", message)
    return None


def _spread_after_pod(call: HintCall) -> HintLine | None:
    others = [obj for obj in (call.old, call.new) if isinstance(obj, Pod)]
    if any(f"{other.namespace}/{other.name}" != call.key and not _is_involved(other, call.key) for other in others):
        message = (
            "the added/updated/deleted pod is unscheduled or has different namespace with target pod, so it doesn't make the target pod"
            " schedulable"
        )
        return _about_pods(call, "podtopologyspread/plugin.go:213", message, originalPod=call.old_key)
    if call.is_add:
        if call.is_queue:
            caller, message = "plugin.go:255", "a scheduled pod was created and it matches with the pod's topology spread constraints"
        else:
            caller = "plugin.go:259"
            message = "a scheduled pod was created, but it doesn't matches with the pod's topology spread constraints"
        return _about_pods(call, f"podtopologyspread/{caller}", message, createdPod=call.new_key)
    if call.is_delete:
        if call.is_queue:
            caller = "plugin.go:266"
            message = (
                "a scheduled pod which matches with the pod's topology spread constraints was deleted, and the pod may be schedulable now"
            )
        else:
            caller = "plugin.go:270"
            message = "a scheduled pod was deleted, but it's unrelated to the pod's topology spread constraints"
        return _about_pods(call, f"podtopologyspread/{caller}", message, deletedPod=call.old_key)
    return _spread_after_update(call)


def _spread_after_update(call: HintCall) -> HintLine | None:
    if not isinstance(call.old, Pod) or not isinstance(call.new, Pod):
        return None
    has_new_labels = call.old.metadata.labels != call.new.metadata.labels
    if call.is_queue:
        if call.is_own and not has_new_labels:
            caller, message = "plugin.go:227", "the unschedulable pod has got a new toleration, which could make it schedulable"
        else:
            caller = "plugin.go:241"
            message = (
                "a scheduled pod's label was updated and it makes the updated pod match or unmatch the pod's topology spread constraints"
            )
    elif has_new_labels:
        caller = "plugin.go:247"
        message = "a scheduled pod's label was updated, but it's a change unrelated to the pod's topology spread constraints"
    else:
        caller = "plugin.go:233"
        message = "the pod's update doesn't include the label update, which doesn't make the target pod schedulable"
    return _about_pods(call, f"podtopologyspread/{caller}", message, modifiedPod=call.new_key)


def _spread_after_node(call: HintCall) -> HintLine | None:
    if call.is_add:
        if call.is_queue:
            caller, message = "plugin.go:350", "the created node matches topology spread constraints, and the pod may be schedulable now"
        else:
            caller, message = "plugin.go:346", "the created node doesn't match pod topology spread constraints"
    elif call.is_delete:
        if call.is_queue:
            caller, message = "plugin.go:359", "the deleted node matches topology spread constraints, and the pod may be schedulable now"
        else:
            caller, message = "plugin.go:356", "the deleted node doesn't match pod topology spread constraints"
    else:
        return _spread_after_node_update(call)
    return _on_node(call, f"podtopologyspread/{caller}", message)


def _spread_after_node_update(call: HintCall) -> HintLine | None:
    """A skip has no line. The pod's own hard constraints decide; there are no hard default constraints unless arguments set them."""
    if not call.is_queue or call.pod is None or not isinstance(call.old, Node) or not isinstance(call.new, Node):
        return None
    own = call.pod.spec.topology_spread_constraints
    keys = [constraint.topology_key for constraint in own if constraint.when_unsatisfiable == "DoNotSchedule"]
    if not keys:
        return None
    was, now = (all(key in node.metadata.labels for key in keys) for node in (call.old, call.new))
    if was == now:
        message = "the node is updated and now has different taints or labels, and the pod may be schedulable now"
        return _on_node(call, "podtopologyspread/plugin.go:337", message)
    message = "the node is updated and now pod topology spread constraints has changed, and the pod may be schedulable now"
    return _on_node(call, "podtopologyspread/plugin.go:332", message, ("originalMatching", was), ("newMatching", now))


def _is_involved(other: Pod, key: str) -> bool:
    """Upstream: podtopologyspread/plugin.go involvedInTopologySpreading"""
    return has_place(other) and other.namespace == key.partition("/")[0]


_LINES: Final[Mapping[str, Mapping[str, _LineOfCall]]] = {
    "NodeResourcesFit": {"Pod": _fit_after_pod, "Node": _fit_after_node},
    "TaintToleration": {"Pod": _taints_after_pod, "Node": _taints_after_node},
    "NodeUnschedulable": {"Pod": _unschedulable_after_pod, "Node": _unschedulable_after_node},
    "NodeAffinity": {"Node": _affinity_after_node},
    "NodePorts": {"Pod": _ports_after_pod},
    "InterPodAffinity": {"Pod": _inter_pod_after_pod, "Node": _inter_pod_after_node},
    "PodTopologySpread": {"Pod": _spread_after_pod, "Node": _spread_after_node},
}
