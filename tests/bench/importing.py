"""The time until an imported session can be used."""

from __future__ import annotations

from pathlib import Path

from tests.bench.report import Figure
from tests.bench.server import Server


def generated(server: Server, *, nodes: int, pods: int) -> list[Figure]:
    _, seconds = server.create(json={"generate": {"shape": "basic", "nodes": nodes, "pods": pods}})
    return [Figure(f"generate {nodes:,} nodes and {pods:,} pods: POST to usable", f"{seconds:.2f} s")]


def files(server: Server, paths: list[Path]) -> list[Figure]:
    uploads = [("file", (path.name, path.read_bytes())) for path in paths]
    session, seconds = server.create(files=uploads)
    objects = server.client.get(f"/api/v1/sessions/{session}/").json()
    what = ", ".join(path.name for path in paths)
    counts = objects.get("report", {}).get("objects", "")
    return [Figure(f"import {what} {counts}: POST to usable", f"{seconds:.2f} s", "< 5 s")]
