"""Validates the names in new objects as the API server does. Imported objects have already passed an API server, so only names that no API
server accepts are refused: control characters, and excessive length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from schedviz.kube.core import Namespace, Node, Pod, Service
from schedviz.kube.devices import DeviceTaintRule
from schedviz.kube.errors import DecodeError
from schedviz.kube.label_names import dns_1035_faults, dns_1123_label_faults, key_faults, subdomain_faults, value_faults
from schedviz.kube.lines import is_one_line
from schedviz.kube.meta import KubeObject

_Faults = Callable[[str], Sequence[str]]
_NAME_BYTES: Final = 253
_NAMESPACE_BYTES: Final = 63
_KEY_BYTES: Final = 253 + 1 + 63
_VALUE_BYTES: Final = 63
#: Kinds whose names are not DNS subdomains.
_NAMES: Final[Mapping[type[KubeObject], _Faults]] = {Namespace: dns_1123_label_faults, Service: dns_1035_faults}


def validate_names(obj: KubeObject, *, is_new: bool) -> None:
    """Raises `DecodeError` for the first name, label or taint that the API server would refuse; existing objects keep their names.

    Upstream: apimachinery/pkg/api/validation/objectmeta.go, pkg/apis/core/validation/validation.go
    """
    for path, text, faults in _names(obj, is_new=is_new):
        if problems := faults(text):
            raise DecodeError(path, problems[0], _shortened(text), message=f'Invalid value: "{_shortened(text)}": {problems[0]}')


def _shortened(text: str) -> str:
    """The text; a longer one than a key is cut."""
    return text if len(text) <= _KEY_BYTES else f"{text[:_KEY_BYTES]}\N{HORIZONTAL ELLIPSIS}"


def validate_possible_names(obj: KubeObject) -> None:
    """Raises `DecodeError` for the first name or label of an imported object that no API server accepts: too long, or not one line."""
    meta = obj.metadata
    for path, text, maximum in (
        ("metadata.name", meta.name, _NAME_BYTES),
        ("metadata.namespace", meta.namespace, _NAMESPACE_BYTES),
        ("metadata.uid", meta.uid, _NAME_BYTES),
        ("metadata.generateName", meta.generate_name, _NAME_BYTES),
    ):
        if text and not is_possible(text, maximum):
            raise _impossible(path, text, maximum)
    for key, value in meta.labels.items():
        if not is_possible(key, _KEY_BYTES):
            raise _impossible("metadata.labels", key, _KEY_BYTES)
        if value and not is_possible(value, _VALUE_BYTES):
            raise _impossible("metadata.labels", value, _VALUE_BYTES)


def is_possible(text: str, maximum: int) -> bool:
    """Whether an API server may have an object of this name: `maximum` bytes at most, in one line."""
    # The length of ASCII text is known without encoding it.
    return (len(text) if text.isascii() else len(text.encode())) <= maximum and is_one_line(text)


def _impossible(path: str, text: str, maximum: int) -> DecodeError:
    expected = f"at most {maximum} bytes without control characters, as an API server takes them"
    actual = f"{len(text.encode()):,} bytes" if len(text.encode()) > maximum else f"{text!r}"
    return DecodeError(path, expected, actual)


def _names(obj: KubeObject, *, is_new: bool) -> Iterator[tuple[str, str, _Faults]]:
    meta = obj.metadata
    if is_new and meta.name:
        yield "metadata.name", meta.name, _NAMES.get(type(obj), subdomain_faults)
    if is_new and meta.namespace:
        yield "metadata.namespace", meta.namespace, dns_1123_label_faults
    yield from _labels("metadata.labels", meta.labels)
    if isinstance(obj, Node):
        for number, taint in enumerate(obj.spec.taints):
            yield f"spec.taints[{number}].key", taint.key, key_faults
            yield f"spec.taints[{number}].value", taint.value, value_faults
    if isinstance(obj, DeviceTaintRule):
        yield "spec.taint.key", obj.spec.taint.key, key_faults
        yield "spec.taint.value", obj.spec.taint.value, value_faults
    if isinstance(obj, Pod):
        yield from _labels("spec.nodeSelector", obj.spec.node_selector)
        if is_new:
            for number, container in enumerate(obj.spec.containers):
                if container.name:
                    yield f"spec.containers[{number}].name", container.name, dns_1123_label_faults


def _labels(path: str, labels: Mapping[str, str]) -> Iterator[tuple[str, str, _Faults]]:
    for key, value in labels.items():
        yield path, key, key_faults
        yield f"{path}[{key}]", value, value_faults
