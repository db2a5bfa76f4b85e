"""The pods that spread together with a pod, by the services and controllers that select it. Upstream: framework/plugins/helper/spread.go"""

from __future__ import annotations

from schedviz.engine.framework.listers import ObjectLister
from schedviz.kube.core import Pod
from schedviz.kube.meta import controller_of
from schedviz.kube.selectors import EVERYTHING, Selector, SelectorError, label_selector, selector_from_set


def default_selector(pod: Pod, objects: ObjectLister) -> Selector:
    """The selector of all services that select the pod, combined with its controller's; empty if there is none.

    Upstream: DefaultSelector
    """
    labels: dict[str, str] = {}
    for service in objects.list("Service", pod.namespace):
        selector = service.spec.selector
        if selector and selector_from_set(selector).matches(pod.metadata.labels):
            labels |= selector
    owner = controller_of(pod)
    if owner is None:
        return _of_set(labels)
    match owner.api_version, owner.kind:
        case "v1", "ReplicationController":
            controller = objects.get("ReplicationController", pod.namespace, owner.name)
            return _of_set(labels if controller is None else labels | controller.spec.selector)
        case "apps/v1", "ReplicaSet" | "StatefulSet":
            controller = objects.get(owner.kind, pod.namespace, owner.name)
            return _of_set(labels) if controller is None else _narrowed(_of_set(labels), controller.spec.selector)
        case _:
            return _of_set(labels)


def _of_set(labels: dict[str, str]) -> Selector:
    return selector_from_set(labels) if labels else EVERYTHING


def _narrowed(selector: Selector, written: object) -> Selector:
    try:
        other = label_selector(written)  # type: ignore[arg-type]  # a LabelSelector or None
    except SelectorError:
        return selector
    return selector if other.selects_nothing else selector.with_requirements(*other.requirements)
