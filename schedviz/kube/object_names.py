"""The names in an object that somebody makes, as the API server checks them. What is imported is not checked: it came through one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from schedviz.kube.core import Namespace, Node, Pod, Service
from schedviz.kube.errors import DecodeError
from schedviz.kube.label_names import dns_1035_faults, key_faults, label_faults, subdomain_faults, value_faults
from schedviz.kube.meta import KubeObject

_Faults = Callable[[str], Sequence[str]]
#: Kinds whose names are no subdomains.
_NAMES: Final[Mapping[type[KubeObject], _Faults]] = {Namespace: label_faults, Service: dns_1035_faults}


def expect_names(obj: KubeObject, *, is_new: bool) -> None:
    """Raises `DecodeError` for the first name, label or taint that the API server would refuse; an object that is there keeps its name.

    Upstream: apimachinery/pkg/api/validation/objectmeta.go, pkg/apis/core/validation/validation.go
    """
    for path, text, faults in _names(obj, is_new=is_new):
        if found := faults(text):
            raise DecodeError(path, found[0], text, message=f'Invalid value: "{text}": {found[0]}')


def _names(obj: KubeObject, *, is_new: bool) -> Iterator[tuple[str, str, _Faults]]:
    meta = obj.metadata
    if is_new and meta.name:
        yield "metadata.name", meta.name, _NAMES.get(type(obj), subdomain_faults)
    if is_new and meta.namespace:
        yield "metadata.namespace", meta.namespace, label_faults
    yield from _labels("metadata.labels", meta.labels)
    if isinstance(obj, Node):
        for number, taint in enumerate(obj.spec.taints):
            yield f"spec.taints[{number}].key", taint.key, key_faults
            yield f"spec.taints[{number}].value", taint.value, value_faults
    if isinstance(obj, Pod):
        yield from _labels("spec.nodeSelector", obj.spec.node_selector)
        if is_new:
            for number, container in enumerate(obj.spec.containers):
                if container.name:
                    yield f"spec.containers[{number}].name", container.name, label_faults


def _labels(path: str, labels: Mapping[str, str]) -> Iterator[tuple[str, str, _Faults]]:
    for key, value in labels.items():
        yield path, key, key_faults
        yield f"{path}[{key}]", value, value_faults
