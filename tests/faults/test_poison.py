"""A poison command, which kills every worker that runs it, is quarantined. All other commands run."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from schedviz.sessions.models import Command
from tests.conftest import until
from tests.faults import verdict
from tests.faults.conftest import StartUp
from tests.sessions.conftest import node, pod

#: An installed plugin that ends the process without an exception, as a bug in a C extension does.
PLUGIN = """
import ctypes
import os
from schedviz.engine.framework.status import SUCCESS

class Poison:
    name = "Poison"

    def __init__(self, args, handle):
        if os.environ.get("POISON_IMPORT"):
            with open(os.environ["POISON_LOG"], "a") as log:
                log.write("tried\\n")
            # Unlike CDLL, it holds the interpreter lock.
            ctypes.PyDLL(None).sleep(600)

    def pre_enqueue(self, pod):
        if pod.pod.metadata.name == "poison":
            os._exit(1)
        if pod.pod.metadata.name == "endless":
            with open(os.environ["POISON_LOG"], "a") as log:
                log.write("tried\\n")
            while True:
                pass
        return SUCCESS
"""
CONFIGURATION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"schedulerName": "default-scheduler", "plugins": {"preEnqueue": {"enabled": [{"name": "Poison"}]}}}],
}


@pytest.fixture
def installed(folder: Path) -> Path:
    """A folder of Python packages with the plugin."""
    site = folder / "site"
    described = site / "poison-1.dist-info"
    described.mkdir(parents=True)
    (site / "poison.py").write_text(PLUGIN)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: poison\nVersion: 1\n")
    (described / "entry_points.txt").write_text("[schedviz.plugins]\nPoison = poison:Poison\n")
    return site


def test_a_command_that_kills_every_worker_is_quarantined(start_up: StartUp, database_url: str, installed: Path) -> None:
    installation = start_up(database_url, PYTHONPATH=str(installed))
    client = installation.client
    poisoned = client.make_session("with a plugin", {"nodes": 4, "pods": 20})
    neighbours = [client.make_session(f"neighbour {n}", {"nodes": 4, "pods": 100, "seed": n}) for n in range(2)]
    until(lambda: all(client.session(each)["status"] == "ready" for each in [poisoned, *neighbours]))

    for key, command in (
        ("configure", {"op": "configure", "config": CONFIGURATION}),
        ("poison", {"op": "create", "object": pod("poison")}),
        ("after", {"op": "run"}),
    ):
        client.send(poisoned, key, command)
    theirs = {neighbour: [("run", client.send(neighbour, "run", {"op": "run"}))] for neighbour in neighbours}
    until(lambda: client.session(poisoned)["appliedSeq"] == 3, seconds=180)
    until(lambda: all(client.session(neighbour)["appliedSeq"] == 1 for neighbour in neighbours))

    session = client.session(poisoned)
    assert session["status"] == "ready"
    assert "Command 2 was quarantined: " in session["message"]
    assert "attempts in a row to execute it failed" in session["message"]
    assert Command.objects.get(session_id=poisoned, quarantined=True).seq == 2
    assert session["cycle"] == 20
    # The poison pod was not created, and the session accepts commands as before.
    assert client.request("GET", f"/api/v1/sessions/{poisoned}/objects/?kind=Pod&name=poison")[0] == 404
    client.send(poisoned, "last", {"op": "snapshot"})
    until(lambda: client.session(poisoned)["appliedSeq"] == 4)
    installation.stop()
    for neighbour in neighbours:
        assert verdict.check(neighbour, theirs[neighbour])


def test_a_command_that_never_ends_is_quarantined_without_ending_a_process(
    start_up: StartUp, database_url: str, installed: Path, folder: Path
) -> None:
    tries = folder / "tries"
    installation = start_up(database_url, PYTHONPATH=str(installed), POISON_LOG=str(tries))
    client = installation.client
    poisoned = client.make_session("with a plugin", {"nodes": 4, "pods": 20})
    until(lambda: client.session(poisoned)["status"] == "ready")

    client.send(poisoned, "configure", {"op": "configure", "config": CONFIGURATION})
    client.send(poisoned, "endless", {"op": "create", "object": pod("endless")})
    client.send(poisoned, "after", {"op": "run"})
    until(lambda: client.session(poisoned)["appliedSeq"] == 3, seconds=180)

    assert "Command 2 was quarantined: one step of it took over 10 s" in client.session(poisoned)["message"]
    assert Command.objects.get(session_id=poisoned, quarantined=True).seq == 2
    assert tries.read_text().splitlines() == ["tried"]
    log = installation.logs(1_000_000)
    assert "interrupting it" in log
    assert "ending this process" not in log


def test_an_import_that_holds_the_interpreter_lock_fails_and_never_runs_twice_concurrently(
    start_up: StartUp, database_url: str, installed: Path, folder: Path
) -> None:
    tries = folder / "tries"
    installation = start_up(database_url, PYTHONPATH=str(installed), POISON_LOG=str(tries), POISON_IMPORT="1")
    client = installation.client
    files = [("file", ("node.json", json.dumps(node("n")))), ("file", ("config.json", json.dumps(CONFIGURATION)))]
    headers = {"Authorization": f"Bearer {client.token}"}
    made = httpx.post(f"http://{client.host}:{client.port}/api/v1/sessions/", files=files, headers=headers, timeout=60)
    assert made.status_code == 201, made.text
    session_id = made.json()["id"]
    until(lambda: client.session(session_id)["status"] == "failed", seconds=400)

    assert "a step took over 30 s, which is the limit" in client.session(session_id)["message"]
    assert tries.read_text().splitlines() == ["tried"] * 3
    log = installation.logs(1_000_000)
    assert log.count("Timeout (0:00:30)!") == 3
    assert "Another owner has taken" not in log
