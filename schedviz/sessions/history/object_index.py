"""Which chunks speak of a pod or node: four bytes for each name in a chunk, stored with it, searched by the database.

A name costs as little as that because a mistake is harmless: where another name has the same four bytes, a chunk is opened in which
nothing is found. A chunk without names, as versions before 0.3 wrote it, is opened always.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import Literal
from uuid import UUID

from django.db import connection
from django.db.models import Min

from schedviz.sessions.models import Chunk, ChunkNames
from schedviz.trace.affected_objects import touched
from schedviz.trace.events import AnyEvent
from schedviz.trace.view import CycleView

Kind = Literal["pods", "nodes"]


def names_of(events: Sequence[AnyEvent], cycles: Iterable[CycleView], running_pod: str) -> bytes:
    """The index of a chunk. `cycles` are those that ended in it and `running_pod` has the one that goes on: their stages do not name
    their pod."""
    found = touched(events)
    pods = found.pods
    pods.update(cycle.pod for cycle in cycles)
    if running_pod:
        pods.add(running_pod)
    needles = {_needle("pods", pod) for pod in pods}
    needles.update(_needle("nodes", node) for node in found.nodes)
    needles.update(_needle("life", pod) for pod in found.lives)
    if found.restarted:
        needles.add(_RESTARTED)
    return b"".join(needles)


def chunks_about(session_id: UUID, kind: Kind, name: str) -> list[int]:
    """Numbers of the chunks that may speak of it, or have a restart in them, in order."""
    return _chunks_with(session_id, [_needle(kind, name), _RESTARTED])


def chunks_with_lives(session_id: UUID, pod: str) -> list[int]:
    """Numbers of the chunks in which a pod of this name may have been created or deleted, in order."""
    return _chunks_with(session_id, [_needle("life", pod)])


def _chunks_with(session_id: UUID, needles: list[bytes]) -> list[int]:
    has = "position(%s::bytea in names)" if connection.vendor == "postgresql" else "instr(names, %s)"
    any_of = " OR ".join([f"{has} > 0"] * len(needles))
    wanted = session_id if connection.features.has_native_uuid_field else session_id.hex
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT number FROM scheduling_chunknames WHERE session_id = %s AND ({any_of}) ORDER BY number",  # noqa: S608 -- of constants.  # nosec B608
            [wanted, *needles],
        )
        found = [row[0] for row in cursor.fetchall()]
    # Chunks come in order, so that those without names are the first ones.
    rows = Chunk.objects.filter(session_id=session_id).order_by("number")
    indexed = ChunkNames.objects.filter(session_id=session_id).aggregate(Min("number"))["number__min"]
    if indexed is not None:
        rows = rows.filter(number__lt=indexed)
    return [*rows.values_list("number", flat=True), *found]


def _needle(kind: str, name: str) -> bytes:
    return zlib.crc32(f"{kind}/{name}".encode(errors="surrogatepass")).to_bytes(4, "big")


#: Chunks with a restart in them are about everybody.
_RESTARTED = _needle("restarted", "")
