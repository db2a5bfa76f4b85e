"""What a session was made with, read out of its first checkpoint without making an engine of it."""

from __future__ import annotations

import zlib
from typing import Any
from uuid import UUID

import msgspec

from schedviz.kube.codec import dec_hook
from schedviz.kube.kinds import AnyObject
from schedviz.kube.meta import KubeObject
from schedviz.sessions import checkpoints
from schedviz.sessions.models import Checkpoint


class Beginning(msgspec.Struct, frozen=True):
    """The engine's settings, and the objects of the import packed as `engine.origin` packs them."""

    settings: dict[str, Any]
    origin: bytes

    def objects(self) -> list[KubeObject]:
        """The objects of the import, in order."""
        return list(_objects.decode(zlib.decompress(self.origin))) if self.origin else []


_decoder = msgspec.msgpack.Decoder(Beginning)
_objects = msgspec.msgpack.Decoder(list[AnyObject], dec_hook=dec_hook)


def beginning_of(session_id: UUID) -> tuple[Beginning, Checkpoint] | None:
    """What its first checkpoint tells; None: there is none, it is being imported or failed to be."""
    first = Checkpoint.objects.filter(session_id=session_id, complete=True, has_engine=True).order_by("event", "pk").first()
    return None if first is None else (_decoder.decode(checkpoints.engine_bytes(first)), first)
