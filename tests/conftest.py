"""Fixtures of all tests: a Redis, a database in a file (or a PostgreSQL), and real workers, all private to this pytest process.

If SCHEDVIZ_DATABASE_URL is set, the tests use a test database on that server; `python -m tests.postgres` sets it.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from tests.postgres import PostgresServer, binaries

T = TypeVar("T")

ROOT = Path(__file__).resolve().parent.parent
#: In memory where that is possible: the database waits for the disk at each commit, and no test needs to survive a power failure.
_MEMORY = Path("/dev/shm")
_ENOUGH_BYTES = 2 << 30
_IN_MEMORY = _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ENOUGH_BYTES
#: Not below pytest's own folders, because the path of a unix socket has at most 108 bytes.
SCRATCH = Path(tempfile.mkdtemp(prefix="schedviz-tests-", dir=_MEMORY if _IN_MEMORY else None))
REDIS_SOCKET = SCRATCH / "redis.sock"
#: Additional lessons of workers (SCHEDVIZ_LESSONS).
OWN_LESSONS = SCRATCH / "lessons"

#: Long, because other steps of `make test` run at the same time.
PATIENCE_SECONDS = 60.0
_FIRST_PAUSE_SECONDS = 0.01
_MAX_PAUSE_SECONDS = 0.1


# By default, Hypothesis fails tests that are slow, as all are on a busy machine.
hypothesis_settings.register_profile("any_speed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("any_speed")


def pytest_configure(config: pytest.Config) -> None:
    """Point the settings, which were read before any conftest, at the Redis of this process."""
    from django.conf import settings

    from schedviz.celery import app

    settings.REDIS_URL = f"unix://{REDIS_SOCKET}"
    # The default takes 0.2 s of CPU time for each password.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    app.conf.broker_url = f"redis+socket://{REDIS_SOCKET}"
    config.add_cleanup(lambda: shutil.rmtree(SCRATCH, ignore_errors=True))


def pytest_collection_finish() -> None:
    """Collect garbage less often, and without looking at all that was imported: it took half of the time of tests that only compute."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def missing(what: str, how: str) -> NoReturn:
    """Skip the test because a program is not installed, or fail it if CI=true."""
    message = f"{what} was not found. {how}"
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(message)
    pytest.skip(message)


def until(what: Callable[[], T], *, seconds: float = PATIENCE_SECONDS) -> T:
    """Call `what` until it returns something true, and return that.

    The pause between two calls grows, so that a long wait leaves the CPU to the server that is polled.
    """
    deadline = time.monotonic() + seconds
    pause = _FIRST_PAUSE_SECONDS
    while not (value := what()):
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(pause)
        pause = min(pause * 1.2, _MAX_PAUSE_SECONDS)
    return value


class RedisServer:
    """A redis-server that listens on a unix socket and stores nothing on disk."""

    def __init__(self, binary: str, socket: Path) -> None:
        self.binary = binary
        self.socket = socket
        self.url = f"unix://{socket}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        # Without --dir it writes into the current directory.
        options = ["--port", "0", "--unixsocket", str(self.socket), "--save", "", "--appendonly", "no", "--dir", str(self.socket.parent)]
        self._process = subprocess.Popen([self.binary, *options], stdout=subprocess.DEVNULL)
        until(self._is_responding)

    def kill(self) -> None:
        """Kill it, as in a crash."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def _is_responding(self) -> bool:
        import redis

        connection = redis.Redis(unix_socket_path=str(self.socket))
        try:
            return bool(connection.ping())
        except redis.RedisError:
            return False
        finally:
            connection.close()


def _redis_binary() -> str | None:
    if found := shutil.which("redis-server") or shutil.which("valkey-server"):
        return found
    from schedviz.up.redis_server import bundled_binary

    bundled = bundled_binary()
    return str(bundled) if bundled else None


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """The Redis of this pytest process. A test that kills it has to start it again."""
    binary = _redis_binary()
    if binary is None:
        missing("redis-server", "Install redis-server or valkey-server.")
    server = RedisServer(binary, REDIS_SOCKET)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def redis(redis_server: RedisServer) -> RedisServer:
    """An empty Redis."""
    from schedviz.sessions.redis import stream

    stream.client().flushall()
    return redis_server


@pytest.fixture(scope="session", autouse=True)
def _trusted_clock() -> None:
    """Trust the time at which the tests start, so that what is old is deleted."""
    from schedviz.sessions.hosting.steady_clock import CLOCK

    CLOCK.trust()


@pytest.fixture(autouse=True)
def _without_keys_of_uploads() -> Iterator[None]:
    """Forget the encryption keys of uploads after each test."""
    yield
    if held := sys.modules.get("schedviz.sessions.uploads.upload_keys"):
        held.drop_all_keys()


@pytest.fixture(scope="session")
def django_db_modify_db_settings() -> None:
    """Use a SQLite file instead of memory, so that other threads and processes see what a test writes."""
    from django.db import connection

    if connection.vendor == "sqlite":
        connection.settings_dict["TEST"]["NAME"] = str(SCRATCH / "test.sqlite3")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> None:
    """Do not create permissions and content types again after each test, which takes ten times as long as emptying the tables. Empty those
    of PostgreSQL without TRUNCATE, which takes 45 ms of CPU time however few rows there are."""
    from django.contrib.auth.management import create_permissions
    from django.contrib.contenttypes.management import create_contenttypes
    from django.db import connection
    from django.db.models.signals import post_migrate

    assert post_migrate.disconnect(create_permissions, dispatch_uid="django.contrib.auth.management.create_permissions")
    assert post_migrate.disconnect(create_contenttypes)
    if connection.vendor == "postgresql":
        pytest.MonkeyPatch().setattr(type(connection.ops), "sql_flush", _deletions)


def _deletions(
    operations: Any, _style: object, tables: list[str], *, reset_sequences: bool = False, allow_cascade: bool = False
) -> list[str]:
    """The statements that empty tables. Foreign keys are checked at the end of the transaction, so their order does not matter."""
    assert not reset_sequences
    del allow_cascade
    return [f"DELETE FROM {operations.quote_name(table)}" for table in tables]


def test_database_url() -> str:
    """The URL of the test database, for processes that a test starts."""
    from django.db import connection

    if connection.vendor == "sqlite":
        return f"sqlite:///{connection.settings_dict['NAME']}"
    host = connection.settings_dict["OPTIONS"].get("host") or connection.settings_dict["HOST"]
    return f"postgresql://{connection.settings_dict['USER']}@/{connection.settings_dict['NAME']}?host={host}"


test_database_url.__test__ = False  # type: ignore[attr-defined]


class Worker:
    """A real Celery worker process."""

    def __init__(self, queue: str, *, pool: str, size: int, name: str) -> None:
        self.name = name
        self._command = [
            *(sys.executable, "-m", "celery", "-A", "schedviz.celery", "worker", "-n", f"{name}@tests", "-Q", queue),
            *("-P", pool, "-c", str(size), "-l", "WARNING", "--without-gossip", "--without-mingle"),
        ]
        self._starts = 0
        self.output = SCRATCH / f"{name}.log"
        self.process: subprocess.Popen[bytes]

    @property
    def owner(self) -> str:
        """The prefix of the lease owners of this process."""
        return f"{self.name}-{self._starts}"

    def start(self) -> None:
        self._starts += 1
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "schedviz.settings",
            "SCHEDVIZ_DATABASE_URL": test_database_url(),
            "SCHEDVIZ_REDIS_URL": f"unix://{REDIS_SOCKET}",
            "SCHEDVIZ_DATA": str(SCRATCH),
            "SCHEDVIZ_LESSONS": str(OWN_LESSONS),
            "SCHEDVIZ_ROLE": "worker",
            "SCHEDVIZ_OWNER": self.owner,
            "OPENBLAS_NUM_THREADS": "1",
        }
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                self._command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )

    def is_ready(self) -> bool:
        from schedviz.sessions.redis import heartbeat

        assert self.process.poll() is None, self.output.read_text(errors="replace")
        return f"{self.name}@tests" in heartbeat.alive()

    def kill(self) -> None:
        """Kill it and its pool processes, as in a crash."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()


#: Fixtures that give a test access to a database. pytest-django refuses it to all others.
_DATABASE_FIXTURES = {
    "db",
    "transactional_db",
    "django_db_reset_sequences",
    "django_db_serialized_rollback",
    "live_server",
    "django_db_setup",
}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Before `-m` selects: tests that use no database get the marker `any_database`. After pytest-django has sorted: tests without workers
    run first, then those with an io worker, then those with an engine worker.

    A worker starts once, for the first test that needs it. Earlier tests host sessions themselves, and a worker would take them.
    """
    for item in items:
        if not (_DATABASE_FIXTURES.intersection(getattr(item, "fixturenames", ())) or item.get_closest_marker("django_db")):
            item.add_marker(pytest.mark.any_database)

    def workers(item: pytest.Item) -> int:
        names = getattr(item, "fixturenames", ())
        return 2 if "engine_worker" in names else 1 if "io_worker" in names else 0

    yield
    items.sort(key=workers)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown() -> None:
    """Wait for the thread that renews leases: between tests it may not query the database."""
    if (lease := sys.modules.get("schedviz.sessions.hosting.lease")) is not None:
        lease.LEASE_RENEWER.wait_for_renewal()


@pytest.fixture(scope="session")
def engine_worker(redis_server: RedisServer, django_db_setup: None) -> Iterator[Worker]:
    """A worker that hosts engines. A test that kills it starts it again."""
    yield from _running(Worker("engine", pool="threads", size=16, name="engine"))


@pytest.fixture(scope="session")
def io_worker(redis_server: RedisServer, django_db_setup: None) -> Iterator[Worker]:
    """A worker for imports and replays."""
    yield from _running(Worker("io", pool="prefork", size=1, name="io"))


def _running(worker: Worker) -> Iterator[Worker]:
    worker.start()
    until(worker.is_ready)
    yield worker
    worker.stop()


def running_postgres(template: Path | None = None) -> Iterator[PostgresServer]:
    """Run a PostgreSQL while a fixture is in use. `template`: the data folder of a stopped server, to copy."""
    result = binaries()
    if result is None:
        missing("PostgreSQL (initdb)", "Install it: apt install postgresql.")
    server = PostgresServer(result)
    server.start(template)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """The PostgreSQL of the tests that are marked `postgres`."""
    yield from running_postgres()
