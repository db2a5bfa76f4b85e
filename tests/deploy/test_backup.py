"""A backup is complete for both kinds of databases, and restored sessions continue."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from schedviz.sessions.redis import heartbeat, stream
from schedviz.up.lock import DataLock
from schedviz.web.backup import BackupError, restore
from schedviz.web.backup.records import End, Header, Rows, Writer, records
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
from schedviz.web.auth.login import make_token
owner = User.objects.create_user("ada")
make_token(owner, "laptop")
session = create.create_session(owner, "kept 保存", create.Files([ContentFile(sys.stdin.buffer.read(), name="cluster.json")]))
import_job.run_import(session.pk)
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
engine = worker_loop.WARM.pop(session.pk)
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

    results: dict[str, list[list[Any]]] = {}
    with file.open("rb") as opened:
        for record in records(opened):
            if isinstance(record, Rows):
                results.setdefault(record.model, []).extend(record.values)
    return results


@pytest.fixture(scope="module")
def source(redis_server: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    made = Installation(tmp_path_factory.mktemp("source"))
    made.python(FILL, dump(3, 25))
    return made


@pytest.fixture(scope="module")
def written(source: Installation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("backup") / "schedviz.backup"
    printed = source.schedviz("backup", file)
    assert "1 sessions" in printed
    return file


def test_a_backup_is_readable_only_by_its_owner_and_has_every_table(written: Path) -> None:
    assert written.stat().st_mode & 0o777 == 0o600
    result = content(written)
    assert {"auth.User", "scheduling.Session", "scheduling.Command", "scheduling.Chunk", "scheduling.CheckpointPiece"} <= result.keys()
    assert len(result["scheduling.Command"]) == 1


@pytest.mark.postgres
def test_a_backup_moves_from_sqlite_to_postgresql_and_back_unchanged_and_the_session_continues(
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


def test_a_database_with_rows_is_not_overwritten_without_replace(source: Installation, written: Path, tmp_path: Path) -> None:
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


def test_nothing_is_restored_from_a_truncated_file(written: Path, damaged: Path, tmp_path: Path) -> None:
    damaged.write_bytes(damaged.read_bytes()[: damaged.stat().st_size * 2 // 3])
    target = Installation(tmp_path / "target")

    printed = target.schedviz("restore", damaged, fails=True)

    assert "Traceback" not in printed
    assert "schedviz: " in printed
    # The complete backup can still be restored into the empty database.
    target.schedviz("restore", written)


FULL = """
import contextlib, errno, io, os, sys
from schedviz.cli.main import main
from schedviz.web.backup.records import Writer

def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

Writer.write = full
sys.argv = ["schedviz", "backup", "there.backup"]
with contextlib.redirect_stderr(sys.stdout), contextlib.suppress(SystemExit):
    main()
"""


def test_a_full_disk_is_an_error_that_names_the_file(source: Installation) -> None:
    assert source.python(FULL).strip() == "schedviz: there.backup: No space left on device"


def test_nothing_is_restored_while_a_server_runs_on_the_data_folder(written: Path, tmp_path: Path) -> None:
    target = Installation(tmp_path / "target")
    target.schedviz("restore", written)
    lock = DataLock(tmp_path / "target")
    try:
        printed = target.schedviz("restore", written, "--replace", fails=True)
    finally:
        lock.release()

    assert "Nothing was restored, because schedviz is running" in printed
    target.schedviz("restore", written, "--replace")


def test_nothing_is_restored_while_workers_run(written: Path, redis: RedisServer) -> None:
    stream.client().set(f"{heartbeat.PREFIX}engine@host", '["engine"]', ex=3)

    try:
        with pytest.raises(BackupError, match="because workers are running: engine@host"):
            restore(written)
    finally:
        stream.client().delete(f"{heartbeat.PREFIX}engine@host")


def forged(written: Path, change: Callable[[list[Header | Rows | End]], object]) -> bytes:
    with written.open("rb") as file:
        results = list(records(file))
    change(results)
    packed = io.BytesIO()
    writer = Writer(packed)
    for record in results:
        writer.write(record)
    writer.close()
    return packed.getvalue()


def _users(found: list[Header | Rows | End]) -> int:
    return next(number for number, record in enumerate(found) if isinstance(record, Rows) and record.model == "auth.User")


def test_nothing_is_restored_from_a_forged_backup(written: Path, tmp_path: Path) -> None:
    target = Installation(tmp_path / "target")
    for change, said in (
        (lambda found: found.append(found[-1]), "it has data after its end"),
        (lambda found: found.insert(1, Rows("auth.User", ["id", "colour"], [[1, "red"]])), "rows of auth.User cannot be stored"),
        (lambda found: found.insert(1, Rows("auth.User", ["id"], [[1, 2]])), "rows of auth.User cannot be stored"),
        (lambda found: found.insert(1, found[_users(found)]), "rows of auth.User cannot be stored"),
        (lambda found: found.insert(1, Rows("auth.User", ["last_login"], [["soon"]])), "rows of auth.User cannot be stored"),
    ):
        (tmp_path / "forged.backup").write_bytes(forged(written, change))

        response = target.schedviz("restore", tmp_path / "forged.backup", fails=True)

        assert "Traceback" not in response
        assert said in response
    target.schedviz("restore", written)


@pytest.mark.parametrize("body", [b"\xff\xff\xff\xff", b"\0\0\0\x05\x81\xa4type", b"\0\0\0\x0a\x81\xa4type\xa3\xff\xfe\xfd"])
def test_damaged_records_are_refused(body: bytes) -> None:
    with pytest.raises(BackupError):
        list(records(io.BytesIO(zstandard.compress(body))))


def test_a_file_that_is_not_a_backup_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("something else")

    assert "not a schedviz backup" in Installation(tmp_path / "target").schedviz("restore", tmp_path / "file", fails=True)
