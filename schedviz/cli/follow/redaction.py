"""Reduces objects to what leaves this machine: the fields that the scheduler reads, with pseudonyms if requested."""

from __future__ import annotations

import hashlib
import threading
from typing import Any

import msgspec

from schedviz.ingest.dropped_fields import DroppedFields
from schedviz.ingest.pseudonyms import Pseudonyms
from schedviz.ingest.reader import Item
from schedviz.kube import codec
from schedviz.kube.core import Pod, PodSpec
from schedviz.kube.errors import KubeError
from schedviz.kube.kinds import Kind
from schedviz.kube.meta import ObjectMeta


class RedactedObject(msgspec.Struct, frozen=True):
    """An object as it is pushed. `version` changes with it, and with the digest of unread fields, because the scheduler is notified of such
    updates, too.
    """

    key: str
    uid: str
    version: str
    object: dict[str, Any]
    #: Bytes of its JSON.
    size: int


class Redaction:
    """Redacts objects; safe for any number of threads. `left_out` counts dropped fields, if requested."""

    def __init__(self, secret: str | None = None, *, left_out: DroppedFields | None = None) -> None:
        self._pseudonyms = Pseudonyms(secret) if secret else None
        self._left_out = left_out
        self._lock = threading.Lock()

    def names(self, namespace: str, name: str, node: str) -> tuple[str, str]:
        """The key of a pod and the name of its node ("": none), as they are in redacted objects."""
        if self._pseudonyms is None:
            return f"{namespace}/{name}", node
        with self._lock:
            pod = self._pseudonyms.objects([Pod(metadata=ObjectMeta(namespace=namespace, name=name), spec=PodSpec(node_name=node))])[0]
        assert isinstance(pod, Pod)
        return pod.key, pod.spec.node_name

    def redact(self, content: bytes, kind: Kind) -> RedactedObject:
        """The redacted object. Raises `KubeError` if it is not an object of this kind."""
        obj = codec.decode(content, kind=kind.name)
        with self._lock:
            if self._left_out is not None:
                self._left_out.add(Item(document=0, path="", content=msgspec.Raw(content), kind=kind.name), obj)
            if self._pseudonyms is not None:
                (obj,) = self._pseudonyms.objects([obj])
        if not isinstance(obj, kind.type):
            raise KubeError(f"expected a {kind.name}, found a {type(obj).__name__}")
        # The resource version changes with every update, read or not.
        obj = msgspec.structs.replace(obj, metadata=msgspec.structs.replace(obj.metadata, resource_version=""))
        plain = codec.to_dict(obj)
        encoded = msgspec.json.encode(plain, order="sorted")
        version = hashlib.blake2b(encoded, digest_size=12).hexdigest()
        return RedactedObject(key=obj.metadata.key, uid=obj.metadata.uid, version=version, object=plain, size=len(encoded))
