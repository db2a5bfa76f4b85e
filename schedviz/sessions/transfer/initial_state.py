"""Reads a session's initial state from its first checkpoint, without creating an engine."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec

from schedviz.kube.meta import KubeObject
from schedviz.kube.packed import unpack
from schedviz.sessions.history import checkpoints
from schedviz.sessions.models import Checkpoint


class InitialState(msgspec.Struct, frozen=True):
    """The engine's settings, and the imported objects as `kube.packed` packs them."""

    settings: dict[str, Any]
    #: Stored as `origin`.
    packed_objects: bytes = msgspec.field(name="origin")

    def objects(self) -> list[KubeObject]:
        """The imported objects, in order."""
        return unpack(self.packed_objects) if self.packed_objects else []


_decoder = msgspec.msgpack.Decoder(InitialState)


def initial_state_of(session_id: UUID) -> tuple[InitialState, Checkpoint] | None:
    """The session's initial state and first checkpoint; None if the session is being imported or its import failed."""
    first = checkpoints.engines(session_id).last()
    return None if first is None else (_decoder.decode(checkpoints.stored_engine(first)), first)
