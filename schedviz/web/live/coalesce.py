"""Joins consecutive frames, so that viewers get few messages."""

from __future__ import annotations

from collections.abc import Sequence

from schedviz.sessions import frames
from schedviz.web.live.viewer import Frame

#: The maximum compressed size of a coalesced frame, so that no viewer waits for a large one.
_COALESCE_BYTES = 256 << 10


def coalesced(gathered: Sequence[tuple[int, bytes]]) -> list[Frame]:
    """Frames, coalesced as far as the size limit allows, from the compressed frames of single chunks and their numbers, in order."""
    made: list[Frame] = []
    group: list[tuple[int, bytes]] = []
    size = 0
    for chunk, data in gathered:
        if group and size + len(data) > _COALESCE_BYTES:
            made.append(_joined(group))
            group, size = [], 0
        group.append((chunk, data))
        size += len(data)
    if group:
        made.append(_joined(group))
    return made


def _joined(group: list[tuple[int, bytes]]) -> Frame:
    return Frame(first=group[0][0], last=group[-1][0], data=frames.coalesce([data for _, data in group]))
