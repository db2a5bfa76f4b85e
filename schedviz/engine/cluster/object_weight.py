"""The weight of an object: how many of ordinary size need as much memory."""

from __future__ import annotations

from typing import Final

import msgspec

from schedviz.kube.codec import enc_hook
from schedviz.kube.meta import KubeObject

#: An object counts once for each of these bytes in its encoded form, at least once.
BYTES_OF_AN_OBJECT: Final = 1024
_encoder: Final = msgspec.msgpack.Encoder(enc_hook=enc_hook)


def weight_of(obj: KubeObject) -> int:
    """The weight, at least 1."""
    return max(1, len(_encoder.encode(obj)) // BYTES_OF_AN_OBJECT)
