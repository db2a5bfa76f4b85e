"""Reads traces of SimKube (sk-tracer, `skctl export`): MessagePack with applied and deleted objects and their times.

SimKube records the owners of pods. The simulated controllers create pods for Deployments and ReplicaSets. Nodes are not recorded and must
come from another file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from schedviz.ingest.errors import UnreadableFile
from schedviz.ingest.file_contents import RecordedSteps
from schedviz.ingest.reader import Item
from schedviz.ingest.simulators.recording import ClusterRecording, RecordedChange

FORMAT: Final = "SimKube trace"
#: A MessagePack map with a few members, one of which is `version`.
_SMALL_MAP: Final = range(0x82, 0x90)
_VERSION: Final = b"\xa7version"
_EVENTS: Final = b"\xa6events"


class _Event(msgspec.Struct, frozen=True):
    ts: int
    applied_objs: list[dict[str, Any]] = []
    deleted_objs: list[dict[str, Any]] = []


class _Trace(msgspec.Struct, frozen=True):
    version: int
    events: list[_Event]
    initial_state: list[dict[str, Any]] = []


def looks_like_simkube(head: bytes) -> bool:
    """Whether the bytes begin as a trace does."""
    return bool(head) and head[0] in _SMALL_MAP and _VERSION in head[:64]


def read_simkube(name: str, data: bytes) -> Iterator[Item | RecordedSteps]:
    """The objects of the first event, and the changes after it. Raises `UnreadableFile`."""
    if _EVENTS not in data:
        raise UnreadableFile(f"{name}: this is MessagePack but not a SimKube trace: it has no events.")
    try:
        trace = msgspec.msgpack.decode(data, type=_Trace)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableFile(f"{name}: this is not a SimKube trace, or it is truncated ({error}); export it again.") from None
    return ClusterRecording(name).read(_changes(trace))


def _changes(trace: _Trace) -> Iterator[RecordedChange]:
    for index, content in enumerate(trace.initial_state):
        yield RecordedChange(0, "put", content, f"initial_state[{index}]")
    began = trace.events[0].ts if trace.events else 0
    for number, event in enumerate(trace.events):
        seconds = float(event.ts - began)
        for index, content in enumerate(event.applied_objs):
            yield RecordedChange(seconds, "put", content, f"events[{number}].applied_objs[{index}]")
        for index, content in enumerate(event.deleted_objs):
            yield RecordedChange(seconds, "delete", content, f"events[{number}].deleted_objs[{index}]")
