"""When an API server refuses a write, with its error messages."""

from __future__ import annotations

from schedviz.engine.cluster.objects import qualified_resource
from schedviz.engine.framework.status import StatusError
from schedviz.kube.core import Pod
from schedviz.kube.kinds import BY_TYPE
from schedviz.kube.meta import KubeObject


class Refusal(Exception):
    """The API server refused a write. The text is its error message."""


def why_not_replaced(new: KubeObject, current: KubeObject | None) -> str:
    """Why the API server would refuse to replace an object; "": it would not."""
    resource = qualified_resource(BY_TYPE[type(new)].name)
    if current is None:
        return f'{resource} "{new.name}" not found'
    if new.metadata.resource_version != current.metadata.resource_version:
        return (
            f'Operation cannot be fulfilled on {resource} "{new.name}": the object has been modified; '
            "please apply your changes to the latest version and try again"
        )
    return ""


def why_not_bound(pod: KubeObject | None, expected: Pod) -> str:
    """Why the API server would refuse to bind a pod; "": it would not.

    Upstream: pkg/registry/core/pod/storage/storage.go setPodNodeAndMetadata
    """
    if not isinstance(pod, Pod):
        return str(not_found(expected))
    uid = expected.uid
    conflict = f'Operation cannot be fulfilled on pods/binding "{pod.name}": '
    if pod.uid != uid:
        return f"{conflict}Precondition failed: UID in precondition: {uid}, UID in object meta: {pod.uid}"
    if pod.metadata.deletion_timestamp is not None:
        return f"{conflict}pod {pod.name} is being deleted, cannot be assigned to a host"
    if pod.spec.node_name:
        return f'{conflict}pod {pod.name} is already assigned to node "{pod.spec.node_name}"'
    if pod.spec.scheduling_gates:
        return f"{conflict}pod {pod.name} has non-empty .spec.schedulingGates"
    return ""


def not_found(pod: Pod) -> StatusError:
    """The error of a write to a pod that does not exist."""
    return StatusError(f'pods "{pod.name}" not found', "pods", pod.name)
