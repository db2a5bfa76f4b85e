"""The weight of an object: how many of ordinary size need as much memory."""

from __future__ import annotations

from typing import Final

import msgspec

from schedviz.kube.codec import enc_hook
from schedviz.kube.meta import KubeObject

#: An object counts once for each of these bytes of its JSON, at least once.
_BYTES: Final = 1024
#: Short members, such as labels and empty tolerations, take more memory than their text: beyond those of an ordinary object, some of them
#: count once.
_ORDINARY_MEMBERS: Final = 64
_MEMBERS: Final = 16
_encoder: Final = msgspec.json.Encoder(enc_hook=enc_hook)


def weight_of(obj: KubeObject) -> int:
    """The weight, at least 1."""
    text = _encoder.encode(obj)
    # Those inside strings count, too. No string needs many of them.
    members = text.count(b",") + text.count(b"{") + text.count(b"[")
    return max(1, len(text) // _BYTES, (members - _ORDINARY_MEMBERS) // _MEMBERS)
