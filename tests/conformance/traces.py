"""The recorded traces."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

from schedviz.ingest.trace_file import TraceFile, decode_trace
from schedviz.trace.commands import AnyCommand

FOLDER = Path(__file__).parent / "traces"
#: Traces of v1.36 have names that start with the release and their set.
FILES = sorted(FOLDER.glob("*.json.xz"))


def name_of(path: Path) -> str:
    return path.name.removesuffix(".json.xz")


def trace_in(path: Path) -> TraceFile:
    return decode_trace(lzma.decompress(path.read_bytes()))


def commands_of(trace: TraceFile) -> list[AnyCommand]:
    """The steps that a session can do: all but `dump`, which changes nothing but the clock."""
    return [step for step in trace.steps if isinstance(step, AnyCommand)]


def document_in(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(lzma.decompress(path.read_bytes()))
    return document
