"""The extenders' wire format: JSON of k8s.io/kube-scheduler/extender/v1, with Go's member names.

Responses are read as Go's decoder reads them: names are case-insensitive, null means absent, and data after the first value is ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from schedviz.engine.extenders.json_syntax import why_invalid
from schedviz.engine.framework.preemption.importance import NodeVictims
from schedviz.engine.framework.types import PodInfo
from schedviz.kube.codec import enc_hook
from schedviz.kube.meta import KubeObject
from schedviz.trace.json_texts import with_texts

_ESCAPED_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_INT64: Final = 1 << 63
#: Members that are internal to schedviz, or that upstream's objects omit in a list.
_INTERNAL_MEMBERS: Final = ("kind", "unread", "unreadStatus")


class ResponseError(ValueError):
    """A response with an unexpected shape."""


# Requests.


def filter_args(pod: PodInfo, nodes: Sequence[KubeObject] | None, names: Sequence[str] | None) -> bytes:
    """ExtenderArgs: nodes, or only their names for an extender with its own cache."""
    node_list = None if nodes is None else {"metadata": {}, "items": [_plain(node) for node in nodes]}
    return _encoded({"Pod": _plain(pod.pod), "Nodes": node_list, "NodeNames": names})


def preemption_args(pod: PodInfo, candidates: Iterable[NodeVictims], *, meta: bool) -> bytes:
    """ExtenderPreemptionArgs; `meta`: victims are named only by UID."""
    victims = {
        candidate.node: {
            "Pods": [{"UID": victim.uid} if meta else _plain(victim.pod) for victim in candidate.pods],
            "NumPDBViolations": candidate.num_pdb_violations,
        }
        for candidate in candidates
    }
    return _encoded(
        {"Pod": _plain(pod.pod), "NodeNameToVictims": None if meta else victims, "NodeNameToMetaVictims": victims if meta else None}
    )


def binding_args(pod: PodInfo, node: str) -> bytes:
    """ExtenderBindingArgs."""
    return _encoded({"PodName": pod.pod.name, "PodNamespace": pod.pod.namespace, "PodUID": pod.uid, "Node": node})


def _plain(obj: KubeObject) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(obj, enc_hook=enc_hook)
    for member in _INTERNAL_MEMBERS:
        plain.pop(member, None)
    plain.get("metadata", {}).pop("unreadAnnotations", None)
    return plain


def _encoded(value: Any) -> bytes:
    return msgspec.json.encode(value)


# Responses.


class FilterResult(msgspec.Struct, frozen=True):
    """ExtenderFilterResult; `nodes` has the names of its items, None: it has none."""

    nodes: list[str] | None
    node_names: list[str] | None
    failed: dict[str, str]
    unresolvable: dict[str, str]
    error: str


class MetaVictims(msgspec.Struct, frozen=True):
    """The UIDs of the victims on a node."""

    uids: list[str]
    num_pdb_violations: int


def filter_result(body: bytes) -> FilterResult:
    """Raises `ResponseError`, like the functions below."""
    result = _object(_decoded(body), "", "v1.ExtenderFilterResult")
    nodes, names = result.get("nodes"), result.get("nodenames")
    return FilterResult(
        nodes=None if nodes is None else _names_of(nodes),
        node_names=None if names is None else [_string(name, _NODE_NAMES) for name in _list(names, _NODE_NAMES, "[]string")],
        failed=_reasons(result.get("failednodes"), "ExtenderFilterResult.FailedNodes"),
        unresolvable=_reasons(result.get("failedandunresolvablenodes"), "ExtenderFilterResult.FailedAndUnresolvableNodes"),
        error=_string(result.get("error"), "ExtenderFilterResult.Error"),
    )


def _names_of(nodes: Any) -> list[str]:
    items = _object(nodes, "ExtenderFilterResult.Nodes", "v1.NodeList").get("items")
    return [_name_of(_object(item, _ITEMS, "v1.Node")) for item in _list(items, _ITEMS, "[]v1.Node")]


def _name_of(node: Mapping[str, Any]) -> str:
    metadata = _object(node.get("metadata"), "Node.Nodes.items.metadata", "v1.ObjectMeta")
    return _string(metadata.get("name"), "ObjectMeta.Nodes.items.metadata.name")


def _reasons(value: Any, field: str) -> dict[str, str]:
    return {node: _string(reason, field) for node, reason in _mapping(value, field, "v1.FailedNodesMap").items()}


def priorities(body: bytes) -> list[tuple[str, int]]:
    """HostPriorityList: nodes and scores."""
    entries = [_object(entry, "", "v1.HostPriority") for entry in _list(_decoded(body), "", "v1.HostPriorityList")]
    return [(_string(entry.get("host"), "HostPriority.Host"), _int64(entry.get("score"), "HostPriority.Score")) for entry in entries]


def preemption_result(body: bytes) -> dict[str, MetaVictims]:
    """ExtenderPreemptionResult: victims by node."""
    result = _object(_decoded(body), "", "v1.ExtenderPreemptionResult").get("nodenametometavictims")
    return {node: _meta_victims(victims) for node, victims in _mapping(result, _VICTIMS, "map[string]*v1.MetaVictims").items()}


def binding_error(body: bytes) -> str:
    """The error in ExtenderBindingResult; "": none."""
    return _string(_object(_decoded(body), "", "v1.ExtenderBindingResult").get("error"), "ExtenderBindingResult.Error")


def _meta_victims(value: Any) -> MetaVictims:
    victims = _object(value, _VICTIMS, "v1.MetaVictims")
    pods = [_object(pod, _PODS, "v1.MetaPod") for pod in _list(victims.get("pods"), _PODS, "[]*v1.MetaPod")]
    return MetaVictims(
        uids=[_string(pod.get("uid"), "MetaPod.NodeNameToMetaVictims.Pods.UID") for pod in pods],
        num_pdb_violations=_int64(victims.get("numpdbviolations"), "MetaVictims.NodeNameToMetaVictims.NumPDBViolations"),
    )


#: Fields as Go's messages name them: the innermost struct, and the path from the outermost one.
_NODE_NAMES: Final = "ExtenderFilterResult.NodeNames"
_ITEMS: Final = "NodeList.Nodes.items"
_VICTIMS: Final = "ExtenderPreemptionResult.NodeNameToMetaVictims"
_PODS: Final = "MetaVictims.NodeNameToMetaVictims.Pods"


def _decoded(body: bytes) -> Any:
    text = body.decode(errors="replace").lstrip(" \t\r\n")
    if not text:
        raise ResponseError("EOF")
    try:
        value = _decoder.raw_decode(text)[0]
    except (ValueError, RecursionError):
        # The other reason is a number with thousands of digits.
        raise ResponseError(why_invalid(body) or "unexpected EOF") from None
    # Go reads a lone surrogate as U+FFFD, and none can be stored.
    return with_texts(value, partial(_SURROGATE.sub, "\ufffd")) if _ESCAPED_SURROGATE.search(text) else value


class _Fraction(msgspec.Struct, frozen=True):
    """A number with a point or an exponent, as it was written."""

    text: str

    def __str__(self) -> str:
        return self.text


def _no_constant(name: str) -> Any:
    raise ValueError(name)


_decoder: Final = json.JSONDecoder(parse_float=_Fraction, parse_constant=_no_constant)


# `field` is the field of Go's structs that has the value, or whose elements or members are such values; "": the whole response.


def _object(value: Any, field: str, type_: str) -> dict[str, Any]:
    """The members by lower-case name; null is an object without members."""
    return {name.lower(): member for name, member in _mapping(value, field, type_).items()}


def _mapping(value: Any, field: str, type_: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _mismatch(value, field, type_)
    return value


def _list(value: Any, field: str, type_: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise _mismatch(value, field, type_)
    return value


def _string(value: Any, field: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _mismatch(value, field, "string")
    return value


def _int64(value: Any, field: str) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not -_INT64 <= value < _INT64:
        raise _mismatch(value, field, "int64")
    return value


def _mismatch(value: Any, field: str, type_: str) -> ResponseError:
    """Upstream: Go encoding/json/decode.go UnmarshalTypeError.Error"""
    kinds = {bool: "bool", str: "string", list: "array", dict: "object"}
    number = f"number {str(value)[:40]}" if type_ == "int64" else "number"
    where = f"struct field {field}" if field else "value"
    return ResponseError(f"json: cannot unmarshal {kinds.get(type(value), number)} into Go {where} of type {type_}")
