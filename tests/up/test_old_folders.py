"""`schedviz up` on the data folder of an earlier version: every session is unchanged, and continues."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import zstandard

from tests.conftest import until
from tests.up.make_old_folder import SAMPLES
from tests.up.running import starter
from tests.up.test_up_for_real import wait_until_up

STATE = ("cache", "snapshot", "queue")
#: Members of a state that later versions added.
_ADDED: dict[str, Any] = {"podGroup": None, "preemptions": [], "apiCalls": []}
NAMES = sorted(path.stem for path in SAMPLES.glob("*.json"))


@pytest.fixture(scope="module", params=NAMES)
def sample(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def described(sample: str) -> dict[str, Any]:
    """The description of each session by the build that made it."""
    document: dict[str, Any] = json.loads((SAMPLES / f"{sample}.json").read_text())
    return document


@pytest.fixture(scope="module")
def api(sample: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """The REST API of this build on the old folder."""
    data = tmp_path_factory.mktemp("old") / "data"
    data.mkdir(mode=0o700)
    packed = (SAMPLES / f"{sample}.sqlite3.zst").read_bytes()
    (data / "schedviz.sqlite3").write_bytes(zstandard.ZstdDecompressor().decompress(packed))
    yield from serving(data)


@pytest.fixture(scope="module")
def another(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """The REST API of an unrelated server."""
    yield from serving(tmp_path_factory.mktemp("another") / "data")


def serving(data: Path) -> Iterator[httpx.Client]:
    command = [sys.executable, "-m", "schedviz.cli.main", "up", "--data", str(data), "--no-open", "--port", "0"]
    for start in starter(data.parent, lambda _: command):
        url = wait_until_up(start())
        token = (data / "token").read_text().strip()
        with httpx.Client(base_url=f"{url}/api/v1/", headers={"Authorization": f"Bearer {token}"}, timeout=30) as client:
            yield client


def settled(api: httpx.Client, session_id: str) -> dict[str, Any]:
    """A session once all accepted commands are done."""

    def look() -> dict[str, Any] | None:
        session: dict[str, Any] = api.get(f"sessions/{session_id}/").raise_for_status().json()
        assert session["status"] != "failed", session["message"]
        return session if session["status"] in ("ready", "paused") and session["appliedSeq"] == session["lastSeq"] else None

    return until(look)


def test_each_stored_session_opens_unchanged(api: httpx.Client, described: dict[str, Any]) -> None:
    for session_id, then in described.items():
        now = settled(api, session_id)
        cycles = api.get(f"sessions/{session_id}/cycles/").raise_for_status().json()["results"]

        assert (now["name"], now["event"]) == (then["name"], then["event"])
        state = api.get(f"sessions/{session_id}/state/").raise_for_status().json()
        assert {member: state[member] for member in then["state"]} == then["state"]
        assert {member: state[member] for member in state if member not in then["state"]} == _ADDED
        assert [cycle["cycle"] for cycle in cycles] == then["cycles"]


def test_time_travel_and_explanations_work_in_stored_sessions(api: httpx.Client, described: dict[str, Any]) -> None:
    for session_id, then in described.items():
        middle = api.get(f"sessions/{session_id}/view/", params={"at": then["event"] - 20}).raise_for_status().json()
        detail = api.get(f"sessions/{session_id}/cycles/{then['cycles'][-1]}/").raise_for_status().json()
        waiting = api.get(f"sessions/{session_id}/explain/default/giant/").raise_for_status().json()

        assert middle["event"] <= then["event"] - 20
        assert detail["pod"].startswith("default/")
        assert detail["filter"] or detail["preFilter"]
        assert "0/5 nodes are available" in json.dumps(waiting)


def test_an_exported_session_is_the_same_on_another_server(api: httpx.Client, another: httpx.Client, described: dict[str, Any]) -> None:
    session_id, then = next(iter(described.items()))
    file = api.get(f"sessions/{session_id}/export/").raise_for_status()

    made = another.post("sessions/", files={"file": ("moved.schedviz", file.content)}).raise_for_status().json()

    assert settled(another, made["id"])["event"] == then["event"]
    now = another.get(f"sessions/{made['id']}/state/").json()
    assert {part: now[part] for part in STATE} == {part: then["state"][part] for part in STATE}


def test_sessions_of_an_older_version_continue(api: httpx.Client, described: dict[str, Any]) -> None:
    for session_id, then in described.items():
        command = {"op": "delete", "kind": "Pod", "namespace": "default", "name": "giant"}
        api.post(f"sessions/{session_id}/commands/", json=command, headers={"Prefer": "wait=20"}).raise_for_status()

        assert settled(api, session_id)["event"] > then["event"]
