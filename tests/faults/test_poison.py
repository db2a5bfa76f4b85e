"""A poison command, which kills every worker that runs it, is quarantined. All other commands run."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedviz.sessions.models import Command
from tests.conftest import until
from tests.faults import verdict
from tests.faults.conftest import StartUp
from tests.sessions.conftest import pod

#: An installed plugin, as anybody may write one, with a bug as C extensions have them: the process is gone without a word.
PLUGIN = """
import os
from schedviz.engine.framework.status import SUCCESS

class Poison:
    name = "Poison"

    def __init__(self, args, handle):
        pass

    def pre_enqueue(self, pod):
        if pod.pod.metadata.name == "poison":
            os._exit(1)
        return SUCCESS
"""
CONFIGURATION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"schedulerName": "default-scheduler", "plugins": {"preEnqueue": {"enabled": [{"name": "Poison"}]}}}],
}


@pytest.fixture
def installed(folder: Path) -> Path:
    """A folder of Python packages with that plugin in it."""
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
    theirs = {each: [("run", client.send(each, "run", {"op": "run"}))] for each in neighbours}
    until(lambda: client.session(poisoned)["appliedSeq"] == 3, seconds=180)
    until(lambda: all(client.session(each)["appliedSeq"] == 1 for each in neighbours))

    session = client.session(poisoned)
    assert session["status"] == "ready"
    assert "Command 2 was set aside: " in session["message"]
    assert "workers in a row ended while doing it" in session["message"]
    assert Command.objects.get(session_id=poisoned, quarantined=True).seq == 2
    assert session["cycle"] == 20
    # The pod that was in the way never came in, and the session takes commands as before.
    assert client.ask("GET", f"/api/v1/sessions/{poisoned}/objects/?kind=Pod&name=poison")[0] == 404
    client.send(poisoned, "last", {"op": "snapshot"})
    until(lambda: client.session(poisoned)["appliedSeq"] == 4)
    installation.stop()
    for each in neighbours:
        assert verdict.check(each, theirs[each])
