"""The recorded traces, and the comparison that their recorder came with."""

from __future__ import annotations

import importlib.util
import json
import lzma
from pathlib import Path
from types import ModuleType
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


def recorded(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(lzma.decompress(path.read_bytes()))
    return document


def load_compare() -> ModuleType:
    spec = importlib.util.spec_from_file_location("conformance_compare", Path(__file__).with_name("compare.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
