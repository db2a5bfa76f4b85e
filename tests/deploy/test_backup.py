"""A backup holds everything, of either kind of database, and what is put back goes on where it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REDIS_SOCKET, ROOT, RedisServer
from tests.postgres import PostgresServer
from tests.sessions.conftest import dump

#: A session with ten cycles, another one forked from it, a user with a token.
FILL = """
import sys
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.management import call_command
call_command("migrate", verbosity=0)
from schedviz.sessions.commands import inbox
from schedviz.sessions.hosting import worker_loop
from schedviz.sessions.transfer import create, import_job
from schedviz.trace.commands import convert_command
from schedviz.web.login import make_token
owner = User.objects.create_user("ada")
make_token(owner, "laptop")
session = create.create_session(owner, "kept 保存", create.Files([ContentFile(sys.stdin.buffer.read(), name="cluster.json")]))
import_job.import_uploads(session.pk)
inbox.accept(session.pk, convert_command({"op": "run", "max": 10}), "first")
worker_loop.host_session(session.pk, linger_seconds=0)
"""
GO_ON = """
import json
from schedviz.sessions.commands import inbox
from schedviz.sessions.hosting import worker_loop
from schedviz.sessions.models import Session
from schedviz.trace.commands import convert_command
session = Session.objects.get()
inbox.accept(session.pk, convert_command({"op": "run"}), "second")
worker_loop.host_session(session.pk, linger_seconds=0)
engine = worker_loop.WARM.take(session.pk)
session.refresh_from_db()
print(json.dumps({"cycle": session.cycle, "event": session.event, "hash": engine._simulation.state_hash(), "owner": session.owner.username}))
"""


class Installation:
    """A data folder and a database, used through processes as an operator does."""

    def __init__(self, folder: Path, url: str | None = None) -> None:
        folder.mkdir(exist_ok=True)
        self._environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "schedviz.settings",
            "SCHEDVIZ_DATA": str(folder),
            "SCHEDVIZ_DATABASE_URL": url or f"sqlite:///{folder}/schedviz.sqlite3",
            "SCHEDVIZ_REDIS_URL": f"unix://{REDIS_SOCKET}",
        }

    def python(self, code: str, stdin: bytes = b"") -> str:
        return self._run([sys.executable, "-c", f"import django; django.setup()\n{code}"], stdin).stdout.decode()

    def schedviz(self, *arguments: object, fails: bool = False) -> str:
        done = self._run([sys.executable, "-m", "schedviz.cli.main", *map(str, arguments)], b"", fails=fails)
        return (done.stderr if fails else done.stdout).decode()

    def _run(self, command: list[str], stdin: bytes, *, fails: bool = False) -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run(command, cwd=ROOT, env=self._environment, input=stdin, capture_output=True, check=False)
        assert (done.returncode != 0) == fails, done.stderr.decode()
        return done


def content(file: Path) -> dict[str, list[list[Any]]]:
    """Every row of a backup, by table."""
    from schedviz.web.backup.records import Rows, records

    found: dict[str, list[list[Any]]] = {}
    with file.open("rb") as opened:
        for record in records(opened):
            if isinstance(record, Rows):
                found.setdefault(record.model, []).extend(record.values)
    return found


@pytest.fixture(scope="module")
def source(redis_server: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    made = Installation(tmp_path_factory.mktemp("source"))
    made.python(FILL, dump(3, 25))
    return made


@pytest.fixture(scope="module")
def written(source: Installation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("backup") / "schedviz.backup"
    said = source.schedviz("backup", file)
    assert "1 sessions" in said
    return file


def test_it_is_readable_by_its_owner_alone_and_has_every_table(written: Path) -> None:
    assert written.stat().st_mode & 0o777 == 0o600
    found = content(written)
    assert {"auth.User", "scheduling.Session", "scheduling.Command", "scheduling.Chunk", "scheduling.CheckpointPiece"} <= found.keys()
    assert len(found["scheduling.Command"]) == 1


@pytest.mark.postgres
def test_it_goes_from_sqlite_to_postgresql_and_back_unchanged_and_the_session_goes_on(
    source: Installation, written: Path, postgres_server: PostgresServer, tmp_path: Path
) -> None:
    there = Installation(tmp_path / "there", postgres_server.url)
    there.schedviz("restore", written)
    second = tmp_path / "second.backup"
    there.schedviz("backup", second)
    assert content(second) == content(written)

    back = Installation(tmp_path / "back")
    back.schedviz("restore", second)

    went_on = [json.loads(one.python(GO_ON)) for one in (source, there, back)]
    assert went_on[0]["cycle"] == 25
    assert went_on[0]["owner"] == "ada"
    assert went_on[1:] == [went_on[0], went_on[0]]


def test_a_database_with_rows_is_left_alone_unless_that_is_said(source: Installation, written: Path, tmp_path: Path) -> None:
    other = Installation(tmp_path / "other")
    other.schedviz("restore", written)

    assert "is not empty" in other.schedviz("restore", written, fails=True)
    other.schedviz("restore", written, "--replace")

    again = tmp_path / "again.backup"
    other.schedviz("backup", again)
    assert content(again) == content(written)


@pytest.fixture
def damaged(written: Path, tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "damaged.backup"
    path.write_bytes(written.read_bytes())
    yield path
    path.unlink(missing_ok=True)


def test_a_file_that_ends_in_the_middle_puts_nothing_back(written: Path, damaged: Path, tmp_path: Path) -> None:
    damaged.write_bytes(damaged.read_bytes()[: damaged.stat().st_size * 2 // 3])
    target = Installation(tmp_path / "target")

    said = target.schedviz("restore", damaged, fails=True)

    assert "Traceback" not in said
    assert "schedviz: " in said
    # And the whole one still finds an empty database.
    target.schedviz("restore", written)


def test_something_else_is_no_backup(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("something else")

    assert "not a schedviz backup" in Installation(tmp_path / "target").schedviz("restore", tmp_path / "file", fails=True)
