"""Make a sample of a data folder for `test_old_folders.py`, with the build in a checkout: `make_old_folder.py CHECKOUT NAME`.

It uses only REST, so it works with any build. The sample is the database without login sessions, and the build's own description of its
sessions.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx
import zstandard

from tests.conftest import until
from tests.e2e.cluster import dump, pod

SAMPLES = Path(__file__).resolve().parents[1] / "samples/old_folders"
PORT = 8795
#: Login sessions are removed for privacy.
SECRETS = ("django_session", "web_token", "web_loginlink")
COMMANDS: list[dict[str, Any]] = [
    {"op": "step", "unit": "cycle"},
    {"op": "step", "unit": "stage"},
    {"op": "run", "max": 6},
    {"op": "create", "object": pod("late", "100m")},
    {"op": "run", "max": 50},
]


def main(checkout: Path, name: str) -> None:
    with tempfile.TemporaryDirectory(prefix="schedviz-old-") as folder:
        data = Path(folder) / "data"
        server = subprocess.Popen(
            [sys.executable, "-m", "schedviz.cli.main", "up", "--port", str(PORT), "--data", str(data), "--no-open"],
            cwd=checkout,
            env={**os.environ, "PYTHONPATH": str(checkout)},
        )
        try:
            until(_is_up, seconds=120)
            session_id = _fill((data / "token").read_text().strip())
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()
        _keep(data / "schedviz.sqlite3", name)
        (SAMPLES / f"{name}.json").write_text(json.dumps(session_id, separators=(",", ":")))


def _is_up() -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{PORT}/healthz").is_success
    except httpx.TransportError:
        return False


def _fill(token: str) -> dict[str, Any]:
    """An imported session, and a fork from its middle if the build supports forks, as described by the build."""
    with httpx.Client(base_url=f"http://127.0.0.1:{PORT}/api/v1/", headers={"Authorization": f"Bearer {token}"}, timeout=30) as api:

        def settled(session_id: str) -> dict[str, Any] | None:
            session: dict[str, Any] = api.get(f"sessions/{session_id}/").raise_for_status().json()
            is_done = session["status"] in ("ready", "paused") and session["appliedSeq"] == session["lastSeq"]
            return session if is_done else None

        def send(session_id: str, *commands: dict[str, Any]) -> None:
            for command in commands:
                api.post(f"sessions/{session_id}/commands/", json=command, headers={"Prefer": "wait=20"}).raise_for_status()

        files = {"file": ("cluster.json", json.dumps(dump()))}
        imported = api.post("sessions/", files=files, data={"name": "imported"}).raise_for_status().json()["id"]
        until(lambda: settled(imported))
        send(imported, *COMMANDS)
        sessions = [imported]
        forking = api.post(
            f"sessions/{imported}/branches/", json={"at": until(lambda: settled(imported))["event"] // 2, "name": "the fork"}
        )
        if forking.is_success:
            fork = forking.json()["id"]
            until(lambda: settled(fork))
            send(fork, {"op": "run", "max": 2})
            sessions.append(fork)
        return {session_id: _said_of(api, until(lambda one=session_id: settled(one))) for session_id in sessions}


def _said_of(api: httpx.Client, session: dict[str, Any]) -> dict[str, Any]:
    cycles = api.get(f"sessions/{session['id']}/cycles/").json()["results"]
    return {
        "name": session["name"],
        "event": session["event"],
        "state": api.get(f"sessions/{session['id']}/state/").json(),
        "cycles": [cycle["cycle"] for cycle in cycles],
    }


def _keep(database: Path, name: str) -> None:
    connection = sqlite3.connect(database)
    for table in SECRETS:
        connection.execute(f"DELETE FROM {table}")
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("VACUUM")
    connection.close()
    SAMPLES.mkdir(parents=True, exist_ok=True)
    (SAMPLES / f"{name}.sqlite3.zst").write_bytes(zstandard.ZstdCompressor(level=22).compress(database.read_bytes()))
    shutil.rmtree(database.parent)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2])
