"""What leaves this machine of an object: what the scheduler reads of it, under other names where that is asked for."""

from __future__ import annotations

import hashlib
import threading
from typing import Any

import msgspec

from schedviz.ingest.dropped_fields import LeftOut
from schedviz.ingest.pseudonyms import Pseudonyms
from schedviz.ingest.reader import Item
from schedviz.kube import codec
from schedviz.kube.errors import KubeError
from schedviz.kube.kinds import Kind


class Kept(msgspec.Struct, frozen=True):
    """An object as it is pushed. `version` changes when that does: also when only the digest of what is not read does, for the scheduler
    is told of such an update, too."""

    key: str
    uid: str
    version: str
    object: dict[str, Any]


class Redaction:
    """Redacts objects, for any number of threads. `left_out` counts fields that are not kept, where that is wanted."""

    def __init__(self, secret: str | None = None, *, left_out: LeftOut | None = None) -> None:
        self._pseudonyms = Pseudonyms(secret) if secret else None
        self._left_out = left_out
        self._lock = threading.Lock()

    def keep(self, content: bytes, kind: Kind) -> Kept:
        """Raises `KubeError` where it is not an object of this kind."""
        obj = codec.decode(content, kind=kind.name)
        with self._lock:
            if self._left_out is not None:
                self._left_out.look(Item(document=0, path="", content=msgspec.Raw(content), kind=kind.name), obj)
            if self._pseudonyms is not None:
                (obj,) = self._pseudonyms.objects([obj])
        if not isinstance(obj, kind.type):
            raise KubeError(f"expected a {kind.name}, found a {type(obj).__name__}")
        # The resource version changes whatever else does, read or not.
        obj = msgspec.structs.replace(obj, metadata=msgspec.structs.replace(obj.metadata, resource_version=""))
        plain = codec.to_dict(obj)
        version = hashlib.blake2b(msgspec.json.encode(plain, order="sorted"), digest_size=12).hexdigest()
        return Kept(key=obj.metadata.key, uid=obj.metadata.uid, version=version, object=plain)
