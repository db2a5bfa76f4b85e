"""The disk of the data folder is full for a while: the message names the disk, nothing is lost, and writes continue when there is space."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import until
from tests.faults import verdict
from tests.faults.conftest import StartUp, sqlite_url
from tests.faults.database import wait_until
from tests.faults.sender import Sender

_MEGABYTES = 48


@pytest.fixture
def small_disk(folder: Path) -> Iterator[Path]:
    """`folder / "data"` on a separate small disk."""
    data = folder / "data"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={_MEGABYTES}m,mode=700", "tmpfs", data], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting a small disk (tmpfs) is not allowed here; it is where one is root.")
    yield data
    subprocess.run(["umount", "--lazy", data], check=True)


def test_a_full_disk_is_reported_and_loses_nothing(start_up: StartUp, folder: Path, small_disk: Path) -> None:
    installation = start_up(sqlite_url(folder))
    client = installation.client
    sessions = [client.make_session(f"number {n}", {"nodes": 4, "pods": 100, "seed": n}) for n in range(2)]
    until(lambda: all(client.session(session)["status"] == "ready" for session in sessions))
    stopped = threading.Event()
    senders = [FullDiskSender(client, session_id, seed, stopped) for seed, session_id in enumerate(sessions)]
    for sender in senders:
        sender.start()
    until(lambda: all(len(sender.sent) > 3 for sender in senders))

    filler = small_disk / "filler"
    fill(filler)
    refused = until(lambda: next((sender.refused for sender in senders if sender.refused), None))
    assert refused["code"] == "disk_full"
    assert "The disk that holds schedviz's data is full" in refused["message"]
    assert str(small_disk) not in refused["message"]
    until(lambda: f"The disk of {small_disk} is full" in installation.output.read_text())
    until(lambda: client.request("GET", "/healthz")[1]["database"] == "its disk is full")
    # Reading still works.
    assert client.session(sessions[0])["status"] in {"ready", "running", "paused"}
    # A worker crash makes no difference.
    assert installation.kill("engine-1")

    filler.unlink()
    until(lambda: "has space again" in installation.output.read_text())
    before = [len(sender.sent) for sender in senders]
    until(lambda: all(len(now.sent) > was for now, was in zip(senders, before, strict=True)))

    stopped.set()
    for sender in senders:
        sender.join(timeout=60)
        assert not sender.is_alive()
        assert not sender.trouble
    wait_until(verdict.all_commands_are_applied, "not everything that was accepted was applied")
    until(client.is_up)
    installation.stop()
    assert "Traceback" not in installation.output.read_text()
    for sender in senders:
        assert verdict.check(sender.session_id, sender.sent)


def fill(filler: Path) -> None:
    """Fill the disk."""
    with filler.open("wb") as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    os.write(file.fileno(), b"\0" * size)
            except OSError:
                continue


class FullDiskSender(Sender):
    """Repeats requests while the disk is full, and keeps the error messages."""

    refused: dict[str, str] | None = None

    def must_be_repeated(self, status: int, response: object) -> bool:
        if status == 507:
            assert isinstance(response, dict)
            self.refused = response["error"]
            return True
        return super().must_be_repeated(status, response)
