"""The SQLite file is removed or replaced under a running installation, which reports it, refuses writes, and works again after a restart."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import until
from tests.faults.conftest import StartUp, sqlite_url
from tests.faults.installation import Installation

CLUSTER = {"nodes": 4, "pods": 100, "seed": 1}


def is_refused(installation: Installation) -> dict[str, object]:
    """The response to creating a session, once it is refused."""
    client = installation.client

    def asked() -> dict[str, object] | None:
        status, response = client.request("POST", "/api/v1/sessions/", {"name": "lost?", "generate": CLUSTER})
        return response if status == 503 else None

    return until(asked)


def is_down(installation: Installation) -> str:
    """The database's state in /healthz, once it is down. Responses are cached for a second."""

    def asked() -> str | None:
        status, health = installation.client.request("GET", "/healthz")
        return health["database"] if status == 503 and "database" in health["down"] else None

    return until(asked)


def test_a_removed_file_is_reported_and_stops_writes(start_up: StartUp, folder: Path) -> None:
    installation = start_up(sqlite_url(folder))
    client = installation.client
    session = client.make_session("before", CLUSTER)
    until(lambda: client.session(session)["status"] == "ready")
    file = folder / "data" / "schedviz.sqlite3"

    aside = folder / "data" / "aside.sqlite3"
    file.rename(aside)

    refused = is_refused(installation)
    assert refused["code"] == "database_gone"
    assert "The database file schedviz.sqlite3 was removed while schedviz was running." in str(refused["detail"])
    assert "The server's log names the path and the remedy." in str(refused["detail"])
    assert str(folder) not in f"{refused} {is_down(installation)}"
    assert not file.exists(), "an empty database was created in its place"
    assert "was removed" in is_down(installation)
    until(lambda: f"The database file {file} was removed while schedviz was running." in installation.output.read_text())

    aside.rename(file)

    until(client.is_up)
    until(lambda: f"The database file {file} is back" in installation.output.read_text())
    assert client.session(session)["status"] == "ready"


def test_a_replaced_file_is_used_only_after_a_restart(start_up: StartUp, folder: Path) -> None:
    installation = start_up(sqlite_url(folder))
    client = installation.client
    session = client.make_session("before", CLUSTER)
    until(lambda: client.session(session)["status"] == "ready")
    file = folder / "data" / "schedviz.sqlite3"
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(folder / "copy")) as copy:
        source.backup(copy)

    shutil.move(folder / "copy", file)

    assert "was replaced" in str(is_refused(installation)["detail"])
    assert "was replaced" in is_down(installation)
    installation.stop()
    for companion in file.parent.glob("schedviz.sqlite3-*"):
        companion.unlink()
    installation.start()
    installation.wait_until_up()
    assert client.session(session)["status"] == "ready"
    assert is_accepted(installation)


@pytest.mark.parametrize("companion", ["-wal", "-shm"])
def test_a_removed_wal_or_shm_file_is_reported(start_up: StartUp, folder: Path, companion: str) -> None:
    installation = start_up(sqlite_url(folder))
    file = folder / "data" / f"schedviz.sqlite3{companion}"
    until(file.exists)

    file.unlink()

    assert "-wal" in str(is_refused(installation)["detail"])
    assert "The file schedviz.sqlite3-wal or schedviz.sqlite3-shm was removed" in is_down(installation)
    assert str(folder) not in f"{is_refused(installation)} {is_down(installation)}"


def test_a_removed_data_folder_is_reported(start_up: StartUp, folder: Path) -> None:
    installation = start_up(sqlite_url(folder), SCHEDVIZ_PUBLIC="1")

    shutil.rmtree(folder / "data")

    refused = is_refused(installation)
    assert refused["code"] == "database_gone"
    assert str(folder) not in str(refused), "paths are revealed to anonymous clients"
    assert "The server's log names the path and the remedy." in is_down(installation)
    until(lambda: "was removed while schedviz was running" in installation.output.read_text())


def is_accepted(installation: Installation) -> bool:
    status, _ = installation.client.request("POST", "/api/v1/sessions/", {"name": "after", "generate": CLUSTER})
    return status in {201, 202}
