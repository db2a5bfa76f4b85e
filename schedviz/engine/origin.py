"""What a session began with, kept small: a reset goes back to it."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import msgspec

from schedviz.kube.codec import dec_hook, enc_hook
from schedviz.kube.kinds import AnyObject
from schedviz.kube.meta import KubeObject

_encoder = msgspec.msgpack.Encoder(enc_hook=enc_hook)
_decoder = msgspec.msgpack.Decoder(list[AnyObject], dec_hook=dec_hook)


class Origin:
    """The imported objects: as they are, or packed, or both."""

    def __init__(self, packed: bytes = b"") -> None:
        self._objects: list[KubeObject] | None = None if packed else []
        self._packed = packed

    def take(self, objects: Sequence[KubeObject]) -> None:
        """Add objects of an import."""
        self._objects = [*self.objects(), *objects]
        self._packed = b""

    def objects(self) -> list[KubeObject]:
        """The objects in the order in which they were imported."""
        if self._objects is None:
            self._objects = list(_decoder.decode(zlib.decompress(self._packed)))
        return list(self._objects)

    def packed(self) -> bytes:
        """The objects for a checkpoint; made once. Empty where there are none."""
        if not self._packed and self._objects:
            self._packed = zlib.compress(_encoder.encode(self._objects), 1)
        return self._packed
