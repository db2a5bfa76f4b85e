"""The weight of an object: how many of ordinary size need as much memory."""

from __future__ import annotations

from typing import Final

import msgspec

from schedviz.kube.codec import enc_hook
from schedviz.kube.meta import KubeObject

#: An object counts once for each of these bytes in its encoded form, at least once.
_BYTES: Final = 1024
#: From this size on it has many short members, such as labels, which take more memory: it counts once more for each of the smaller number.
_LARGE_BYTES: Final = 16 * 1024
_BYTES_OF_LARGE: Final = 256
_encoder: Final = msgspec.msgpack.Encoder(enc_hook=enc_hook)


def weight_of(obj: KubeObject) -> int:
    """The weight, at least 1."""
    size = len(_encoder.encode(obj))
    return max(1, min(size, _LARGE_BYTES) // _BYTES + max(0, size - _LARGE_BYTES) // _BYTES_OF_LARGE)
