"""Decodes pods from JSON and caches their specifications.

The specifications of a Deployment's pods differ in two places: the node, and the name of the volume that admission mounts for the token.
With these cut out, the 50,000 pods of a large cluster have a few hundred different texts. The result for each text (the typed specification
with defaults, and the digest lines of unread fields) is cached: this reduces 330 µs per pod to 130, and pods share the result.
"""

from __future__ import annotations

import re
import sys
from typing import Any, Final, cast

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from schedviz.kube import codec
from schedviz.kube.core import Pod, PodSpec, PodStatus
from schedviz.kube.defaults import default_object
from schedviz.kube.errors import DecodeError
from schedviz.kube.meta import ObjectMeta
from schedviz.kube.shapes import remainder
from schedviz.kube.sharing import Sharing
from schedviz.kube.unread import READ_ANNOTATIONS

#: A plain search for these words comes first, because a pattern takes ten times as long.
_NODE_WORD: Final = b'"nodeName"'
_NODE: Final = re.compile(rb'"nodeName":\s*"([\w.-]+)"', re.ASCII)
_TOKEN_WORD: Final = b"kube-api-access-"
_TOKEN: Final = re.compile(rb"kube-api-access-([a-z0-9]{5})", re.ASCII)
#: Placeholders for the two places. Kubernetes names cannot contain two underscores.
_NODE_GAP: Final = b"__node__"
_TOKEN_GAP: Final = b"kube-api-access-__token__"
#: The total size of cached specifications, in bytes.
_MAX_BYTES: Final = 16 << 20


class _Outline(msgspec.Struct, gc=False):
    """A pod with undecoded parts."""

    metadata: msgspec.Raw
    spec: msgspec.Raw
    status: msgspec.Raw
    unread: msgspec.Raw | UnsetType = UNSET
    unread_status: msgspec.Raw | UnsetType = msgspec.field(default=UNSET, name="unreadStatus")


class _CachedSpec(msgspec.Struct, frozen=True):
    """The decoded form of a specification with placeholders."""

    spec: PodSpec
    #: Volumes with the placeholder in their names, by index.
    of_token: tuple[int, ...]
    #: The data for the digest.
    unread: bytes


def _decoder(struct: type | None) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(cast("type[msgspec.Struct]", struct), dec_hook=codec.dec_hook)


_outline: Final = msgspec.json.Decoder(_Outline)
_metadata, _metadata_rest = _decoder(ObjectMeta), _decoder(remainder(ObjectMeta))
_spec, _spec_rest = _decoder(PodSpec), _decoder(remainder(PodSpec))
_status, _status_rest = _decoder(PodStatus), _decoder(remainder(PodStatus))
_plain: Final = msgspec.json.Encoder(enc_hook=codec.enc_hook)


class PodTexts:
    """Decodes pods, and caches their specifications."""

    def __init__(self, sharing: Sharing) -> None:
        self._sharing = sharing
        self._cached: dict[bytes, _CachedSpec | None] = {}
        self._bytes = 0

    def decode(self, text: bytes) -> Pod | None:
        """The same as `default_object(codec.decode(text))`; None if that must be called, because the object is not a pod, unusual or
        invalid.
        """
        if codec.kind_at_a_glance(text) != ("v1", "Pod"):
            return None
        try:
            outline = _outline.decode(text)
            if outline.unread is not UNSET or outline.unread_status is not UNSET:
                return None
            return self._decode(bytes(outline.metadata), bytes(outline.spec), bytes(outline.status))
        except (msgspec.DecodeError, DecodeError, RecursionError):
            return None

    def _decode(self, metadata_text: bytes, spec_text: bytes, status_text: bytes) -> Pod | None:
        metadata, status = _metadata.decode(metadata_text), _status.decode(status_text)
        if not metadata.namespace or not status.phase:
            return None
        cached = self._spec_of(spec_text)
        if cached is None:
            return None
        spec, unread = cached
        if not metadata.annotations.keys() <= READ_ANNOTATIONS:
            metadata = codec.split_annotations(metadata)
        pod = Pod(
            metadata=self._sharing.metadata(metadata),
            spec=spec,
            status=self._sharing.part(status),
            unread=unread,
            unread_status=codec.two_digests_of(_metadata_rest.decode(metadata_text), _status_rest.decode(status_text)),
        )
        codec.validate_names_and_times(pod)
        return pod

    def _spec_of(self, text: bytes) -> tuple[PodSpec, str] | None:
        """The specification, and the digest of its unread fields; None if the text cannot be shared."""
        if _NODE_GAP in text or _TOKEN_GAP in text:
            return None
        node, token = "", b""
        if (on := _NODE.match(text, text.find(_NODE_WORD))) is not None:
            node = sys.intern(on[1].decode())
            text = text[: on.start(1)] + _NODE_GAP + text[on.end(1) :]
        if (has := _TOKEN.match(text, text.find(_TOKEN_WORD))) is not None:
            token = has[0]
            text = text.replace(token, _TOKEN_GAP)
        cached = self._cached.get(text, UNSET)
        if cached is UNSET:
            cached = self._remember(text, has_node=bool(node))
        if cached is None:
            return None
        volumes = cached.spec.volumes
        if cached.of_token:
            filled = list(volumes)
            for index in cached.of_token:
                name = volumes[index].name.replace(_TOKEN_GAP.decode(), token.decode())
                filled[index] = replace(volumes[index], name=name)
            volumes = tuple(filled)
        unread = codec.digest(cached.unread.replace(_TOKEN_GAP, token)) if cached.unread else ""
        return replace(cached.spec, node_name=node, volumes=volumes), unread

    def _remember(self, text: bytes, *, has_node: bool) -> _CachedSpec | None:
        if self._bytes > _MAX_BYTES:
            self._cached.clear()
            self._bytes = 0
        self._bytes += len(text)
        cached = self._cached[text] = _read(text, has_node=has_node)
        return cached


def _read(text: bytes, *, has_node: bool) -> _CachedSpec | None:
    """None if a placeholder is not at its one expected position: a label may be called nodeName."""
    spec = default_object(Pod(metadata=ObjectMeta(name="any"), spec=_spec.decode(text))).spec
    unread = b"\n".join(codec.unread_lines(_spec_rest.decode(text)))
    encoded = _plain.encode(spec)
    of_token = tuple(index for index, volume in enumerate(spec.volumes) if _TOKEN_GAP.decode() in volume.name)
    is_filled_at_node = (spec.node_name == _NODE_GAP.decode()) == has_node
    can_be_filled = (
        is_filled_at_node
        and encoded.count(_NODE_GAP) == has_node
        and _NODE_GAP not in unread
        and encoded.count(_TOKEN_GAP) == sum(spec.volumes[index].name.count(_TOKEN_GAP.decode()) for index in of_token)
    )
    return _CachedSpec(spec, of_token, unread) if can_be_filled else None
