"""Completes an import as a whole: adds messages to pending pods, and creates warnings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from schedviz.ingest.scheduler_messages import PodMessage
from schedviz.kube.core import Node, Pod, PodCondition
from schedviz.kube.meta import KubeObject
from schedviz.trace.phrase import Phrase, counted, phrase, some

#: Pods on fewer nodes than this, all of which are missing, may be those of a node that was just deleted.
_MIN_HOSTS: Final = 2


def with_last_message(obj: KubeObject, messages: Mapping[str, PodMessage]) -> KubeObject:
    """A pending pod with the message of an event or a log, if it has none of its own."""
    if not isinstance(obj, Pod) or obj.spec.node_name or obj.key not in messages:
        return obj
    if any(condition.type == "PodScheduled" and condition.message for condition in obj.status.conditions):
        return obj
    others = tuple(condition for condition in obj.status.conditions if condition.type != "PodScheduled")
    condition = PodCondition(type="PodScheduled", status="False", reason="Unschedulable", message=messages[obj.key].message)
    return msgspec.structs.replace(obj, status=msgspec.structs.replace(obj.status, conditions=(*others, condition)))


def missing_pods(messages: Iterable[PodMessage], objects: Iterable[KubeObject], origins: Collection[str]) -> Iterator[Phrase]:
    """A warning if texts have messages about pods that are not among the objects. `origins`: the files with objects.

    The Events of a dump may be about pods that were deleted since.
    """
    pods = {obj.key for obj in objects if isinstance(obj, Pod)}
    missing = [message for message in messages if message.pod not in pods and message.source not in origins]
    if missing:
        yield phrase(
            "The objects do not include {pods}, mentioned in {files}. To explain such a pod, drop that text on its own on the start page, "
            "or name the pod: `schedviz explain NAMESPACE/POD -f …`.",
            pods=some([message.pod for message in missing]),
            files=some(list(dict.fromkeys(message.source for message in missing))),
        )


def warnings_of(objects: Sequence[KubeObject], kinds: Counter[str]) -> Iterator[Phrase]:
    """Warnings that users should see before they use the session."""
    if not kinds["Node"]:
        yield phrase(
            "There are no nodes, so no pod can be scheduled; import the output of `kubectl get nodes,pods,pv,pvc,sc,events -A -o json`."
        )
    if not kinds["Pod"] and not kinds["Deployment"] and not kinds["ReplicaSet"]:
        yield phrase(
            "There are no pods, so there is nothing to schedule; import the output of `kubectl get nodes,pods,pv,pvc,sc,events -A -o json`."
        )
    nodes = {obj.name for obj in objects if isinstance(obj, Node)}
    bound = [pod for pod in objects if isinstance(pod, Pod) and pod.spec.node_name]
    strays = [pod for pod in bound if pod.spec.node_name not in nodes]
    hosts = {pod.spec.node_name for pod in bound}
    if nodes and len(hosts) >= _MIN_HOSTS and len(strays) == len(bound):
        yield phrase(
            (
                "The nodes and the pods appear to come from different clusters: {pods} pods are bound to {hosts} nodes, none "
                "of which is among the {nodes} nodes of the files. Collect both from one cluster."
            ),
            pods=len(bound),
            hosts=len(hosts),
            nodes=len(nodes),
        )
    elif strays and nodes:
        missing = sorted({pod.spec.node_name for pod in strays})
        listed = ", ".join(missing[:3]) + (", …" if len(missing) > 3 else "")
        nodes_are_missing = (
            "{pods} is bound to a node that is not in the files ({nodes}); the cache shows it as a deleted node."
            if len(strays) == 1
            else "{pods} are bound to nodes that are not in the files ({nodes}); the cache shows them as deleted nodes."
        )
        yield phrase(nodes_are_missing, pods=counted(len(strays), "{count} pod", "{count} pods"), nodes=listed)
