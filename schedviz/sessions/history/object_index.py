"""An index of the pods and nodes that each chunk mentions: a four-byte hash per name, stored with the chunk and searched by the database.

Hash collisions are harmless: a chunk is opened and nothing is found in it. Chunks without an index, written by versions before 0.3, are
always opened.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import Literal
from uuid import UUID

from django.db import connection
from django.db.models import Min

from schedviz.sessions.models import Chunk, ChunkNames
from schedviz.trace.affected_objects import affected_objects
from schedviz.trace.events import AnyEvent
from schedviz.trace.view import CycleView

Kind = Literal["pods", "nodes"]


def names_of(events: Sequence[AnyEvent], cycles: Iterable[CycleView], running_pod: str) -> bytes:
    """The index of a chunk. `cycles` are those that ended in it, and `running_pod` is the pod of the cycle that continues; the events of
    their stages do not name the pod.
    """
    names = affected_objects(events)
    pods = names.pods
    pods.update(cycle.pod for cycle in cycles)
    if running_pod:
        pods.add(running_pod)
    needles = {_needle("pods", pod) for pod in pods}
    needles.update(_needle("nodes", node) for node in names.nodes)
    needles.update(_needle("life", pod) for pod in names.created_or_deleted)
    if names.restarted:
        needles.add(_RESTARTED)
    return b"".join(needles)


def chunks_about(session_id: UUID, kind: Kind, name: str) -> list[int]:
    """The numbers of the chunks that may mention the object or contain a restart, in order."""
    return _chunks_with(session_id, [_needle(kind, name), _RESTARTED])


def chunks_with_lives(session_id: UUID, pod: str) -> list[int]:
    """The numbers of the chunks in which a pod of this name may have been created or deleted, in order."""
    return _chunks_with(session_id, [_needle("life", pod)])


def _chunks_with(session_id: UUID, needles: list[bytes]) -> list[int]:
    has = "position(%s::bytea in names)" if connection.vendor == "postgresql" else "instr(names, %s)"
    any_of = " OR ".join([f"{has} > 0"] * len(needles))
    stored_id = session_id if connection.features.has_native_uuid_field else session_id.hex
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT number FROM scheduling_chunknames WHERE session_id = %s AND ({any_of}) ORDER BY number",  # noqa: S608 -- made of constants.  # nosec B608
            [stored_id, *needles],
        )
        numbers = [row[0] for row in cursor.fetchall()]
    # Chunks without an index are the oldest, so they come first.
    rows = Chunk.objects.filter(session_id=session_id).order_by("number")
    indexed = ChunkNames.objects.filter(session_id=session_id).aggregate(Min("number"))["number__min"]
    if indexed is not None:
        rows = rows.filter(number__lt=indexed)
    return [*rows.values_list("number", flat=True), *numbers]


def _needle(kind: str, name: str) -> bytes:
    return zlib.crc32(f"{kind}/{name}".encode(errors="surrogatepass")).to_bytes(4, "big")


#: A restart concerns every object.
_RESTARTED = _needle("restarted", "")
