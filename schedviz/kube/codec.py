"""Converts JSON and dicts to objects and back.

Lenient decoding drops unread fields, of which dumps have many; strict decoding also refuses fields that the Kubernetes API does not define.
Both keep a digest of what was dropped.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from schedviz.kube import quantity, timestamps
from schedviz.kube.core import Node, Pod
from schedviz.kube.devices import DeviceTaintRule, ResourceClaim
from schedviz.kube.errors import DecodeError, UnknownKindError
from schedviz.kube.kinds import BY_NAME, BY_TYPE, KINDS, Kind
from schedviz.kube.meta import KubeObject, ObjectMeta
from schedviz.kube.policy import PodDisruptionBudget
from schedviz.kube.quantity import Quantity
from schedviz.kube.shapes import remainder, strict_type, unread_lines_of
from schedviz.kube.storage import PersistentVolume, PersistentVolumeClaim
from schedviz.kube.unread import READ_ANNOTATIONS
from schedviz.kube.validation_errors import describe, explain_validation_error
from schedviz.kube.workloads import PodGroup

_KNOWN_KINDS: Final = ", ".join(sorted(kind.name for kind in KINDS))

#: Kinds besides Pod whose status is kept by an update without a status.
_KEEPING_STATUS: Final = (Node, PersistentVolume, PersistentVolumeClaim, PodGroup, ResourceClaim)

#: The same everywhere: a session can be moved to another installation, and a replay must compute the digests that were stored.
_DIGEST_KEY: Final = b"schedviz"


def dec_hook(type_: type, value: Any) -> Any:
    """msgspec's hook for types that it does not know. Every decoder of objects needs it."""
    if type_ is Quantity:
        if isinstance(value, str):
            return quantity.parse(value.strip())
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return quantity.from_number(value)
        raise quantity.QuantityError(value)
    raise NotImplementedError(type_)


def enc_hook(value: Any) -> Any:
    """msgspec's hook for encoding objects. Every encoder of objects needs it."""
    if isinstance(value, Quantity):
        return str(value)
    raise NotImplementedError(type(value))


class _Head(msgspec.Struct, gc=False):
    api_version: Any = msgspec.field(default="", name="apiVersion")
    kind: Any = ""


class _Decoders:
    """The compiled decoders of one kind."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.object = msgspec.json.Decoder(kind.type, dec_hook=dec_hook)
        self.remainder = msgspec.json.Decoder(cast("type[msgspec.Struct]", remainder(kind.type)))
        self.strict_type = strict_type(kind.type)


#: Made when the process starts, before its threads: two threads that use a msgspec type for the first time together can end the process.
_DECODERS: Final = {kind.name: _Decoders(kind) for kind in KINDS}
#: Most tools write these two members first; looking there avoids parsing the whole text.
_HEAD: Final = re.compile(rb'\s*\{\s*"apiVersion"\s*:\s*"([\w./-]*)"\s*,\s*"kind"\s*:\s*"(\w+)"', re.ASCII)
_head_decoder: Final = msgspec.json.Decoder(_Head)
#: Smaller whole numbers are exact as floats.
_EXACT_FLOAT_LIMIT: Final = 2.0**53
_encoder: Final = msgspec.json.Encoder(enc_hook=enc_hook)
_sorted_encoder: Final = msgspec.json.Encoder(order="sorted")


def decode(data: bytes, *, strict: bool = False, kind: str = "") -> KubeObject:
    """Decode an object; `kind` is that of an object without one (an item of a PodList).

    Raises `UnknownKindError` for a kind that the scheduler does not read, and `DecodeError` for any other error.
    """
    try:
        api_version, own_kind = _head(data)
        decoders = _decoders_for(api_version, own_kind or kind)
        obj = decoders.object.decode(data)
        if strict:
            msgspec.json.decode(data, type=decoders.strict_type)
        return _finish(obj, decoders.remainder.decode(data))
    except msgspec.ValidationError:
        return from_dict(_plain(data), strict=strict, kind=kind)  # accepts nulls, or explains the error
    except (msgspec.DecodeError, RecursionError) as error:
        raise DecodeError("", "JSON", message=f"not JSON: {error}") from None


def from_dict(data: object, *, strict: bool = False, kind: str = "") -> KubeObject:
    """An object from decoded JSON. Raises as `decode` does."""
    if not isinstance(data, Mapping):
        raise DecodeError("", "a Kubernetes object", describe(data))
    decoders = _decoders_for(data.get("apiVersion", ""), data.get("kind") or kind)
    try:
        return _convert(data, decoders, strict=strict)
    except msgspec.ValidationError:
        pass
    without_nulls = _normalized(data)  # null means "absent" to Kubernetes, and some YAML has 1e+09 for a whole number
    try:
        return _convert(without_nulls, decoders, strict=strict)
    except msgspec.ValidationError as error:
        raise explain_validation_error(error, without_nulls) from None


def unread_fields(data: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """The members of an object's JSON that decoding drops, at every depth; an item of a list keeps its place. Raises as `decode` does."""
    try:
        rest = _DECODERS[kind].remainder.decode(msgspec.json.encode(_normalized(data)))
    except msgspec.ValidationError as error:
        raise explain_validation_error(error, data) from None
    fields: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(rest))
    return fields


def to_dict(obj: KubeObject) -> dict[str, Any]:
    """The object as JSON-like data, with apiVersion and kind first."""
    plain = msgspec.to_builtins(obj, enc_hook=enc_hook)
    return {"apiVersion": BY_TYPE[type(obj)].api_version, **plain}


def encode(obj: KubeObject) -> bytes:
    """The object as JSON."""
    return _encoder.encode(to_dict(obj))


def digest(data: bytes) -> str:
    """A digest that shows whether the data changed. The data cannot be computed from it, but a guess at the data can be tested."""
    return hashlib.blake2b(data, key=_DIGEST_KEY, digest_size=12).hexdigest()


def kind_at_a_glance(data: bytes) -> tuple[str, str] | None:
    """apiVersion and kind of a text that begins with them; otherwise None."""
    first = _HEAD.match(data)
    return None if first is None else (first[1].decode(), first[2].decode())


def _head(data: bytes) -> tuple[Any, Any]:
    """apiVersion and kind."""
    first = kind_at_a_glance(data)
    if first is not None:
        return first
    head = _head_decoder.decode(data)
    return head.api_version, head.kind


def _plain(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except msgspec.ValidationError as error:  # a number of more digits than Python reads
        raise DecodeError("", "smaller numbers", message=str(error).partition(" - at ")[0].lower()) from None


def _decoders_for(api_version: object, kind: object) -> _Decoders:
    if not isinstance(kind, str) or not kind:
        actual = "nothing" if kind in ("", None) else describe(kind)
        raise DecodeError("kind", "the kind of the object, such as Pod", actual)
    entry = BY_NAME.get(kind)
    if entry is None:
        raise UnknownKindError(
            "kind", _KNOWN_KINDS, kind, message=f"the scheduler does not read the kind {kind!r}; it reads {_KNOWN_KINDS}", kind=kind
        )
    if api_version not in ("", None, entry.api_version, *entry.other_versions):
        raise UnknownKindError("apiVersion", f'"{entry.api_version}" for a {kind}', describe(api_version), kind=kind)
    return _DECODERS[kind]


def _convert(data: Mapping[str, Any], decoders: _Decoders, *, strict: bool) -> KubeObject:
    obj = msgspec.convert(data, decoders.kind.type, dec_hook=dec_hook)
    if strict:
        msgspec.convert(data, decoders.strict_type)
    return _finish(obj, decoders.remainder.decode(msgspec.json.encode(data)))


def _finish(obj: KubeObject, unread_fields: Any) -> KubeObject:
    """Validate what types cannot express, keep the annotations that are read, and digest the unread fields."""
    validate_names_and_times(obj)
    changes: dict[str, Any] = {}
    metadata = obj.metadata
    if not metadata.annotations.keys() <= READ_ANNOTATIONS:
        changes["metadata"] = split_annotations(metadata)
    if isinstance(obj, Pod):
        of_metadata_and_status = two_digests_of(unread_fields.metadata, unread_fields.status)
        if of_metadata_and_status:
            changes["unread_status"] = of_metadata_and_status
        unread = digest_of(unread_fields.spec)
    elif isinstance(obj, _KEEPING_STATUS):
        lines = unread_lines(unread_fields)
        of_status = [line for line in lines if line.startswith(b"0.status.")]
        unread = _two_digests([line for line in lines if not line.startswith(b"0.status.")], of_status)
    else:
        unread = digest_of(unread_fields)
    if unread:
        changes["unread"] = unread
    return msgspec.structs.replace(obj, **changes) if changes else obj


def unread_lines(*parts: Any) -> list[bytes]:
    """The unread fields of parts of an object, one line each."""
    return [line for index, part in enumerate(parts) if part is not None for line in unread_lines_of(part, b"%d." % index)]


def digest_of(*parts: Any) -> str:
    """The digest of the unread fields of parts of an object; "" if there are none."""
    return _digest_of_lines(unread_lines(*parts))


def two_digests_of(own: Any, status: Any) -> str:
    """The digests of the unread fields of an object and of its status, in one text; "" if there are none."""
    return _two_digests(unread_lines(own), unread_lines(status))


def with_status_of(unread: str, old: str) -> str:
    """The first digest of one version with the second of another: an update without a status keeps the status."""
    own, status = unread.partition(".")[0], old.partition(".")[2]
    return f"{own}.{status}" if own or status else ""


def _two_digests(own: list[bytes], status: list[bytes]) -> str:
    return f"{_digest_of_lines(own)}.{_digest_of_lines(status)}" if own or status else ""


def _digest_of_lines(lines: list[bytes]) -> str:
    return digest(b"\n".join(lines)) if lines else ""


def split_annotations(metadata: ObjectMeta) -> ObjectMeta:
    """The annotations that are read, and a digest of the others."""
    read_annotations = {key: value for key, value in metadata.annotations.items() if key in READ_ANNOTATIONS}
    others = {key: value for key, value in metadata.annotations.items() if key not in READ_ANNOTATIONS}
    return msgspec.structs.replace(metadata, annotations=read_annotations, unread_annotations=digest(_sorted_encoder.encode(others)))


def validate_names_and_times(obj: KubeObject) -> None:
    """Validate what types cannot express. Raises `DecodeError`."""
    metadata = obj.metadata
    if not metadata.name and not metadata.generate_name:
        raise DecodeError("metadata.name", "a name", "nothing")
    for path, name in (("metadata.name", metadata.name), ("metadata.namespace", metadata.namespace)):
        if "\0" in name:
            raise DecodeError(path, "a name without the character U+0000", describe(name))
    times = [("metadata.creationTimestamp", metadata.creation_timestamp), ("metadata.deletionTimestamp", metadata.deletion_timestamp)]
    if isinstance(obj, Pod):
        times.append(("status.startTime", obj.status.start_time))
    elif isinstance(obj, PodDisruptionBudget):
        times += [(f"status.disruptedPods.{name}", since) for name, since in obj.status.disrupted_pods.items()]
    elif isinstance(obj, DeviceTaintRule):
        times.append(("spec.taint.timeAdded", obj.spec.taint.time_added))
    for path, text in times:
        if text is not None:
            try:
                timestamps.parse_timestamp(text)
            except ValueError as error:
                raise DecodeError(path, "an RFC 3339 time", text, message=str(error)) from None


def _normalized(value: Any) -> Any:
    """JSON without nulls, and with whole numbers as integers."""
    if isinstance(value, Mapping):
        return {key: _normalized(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_normalized(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_FLOAT_LIMIT:
        return int(value)
    return value
