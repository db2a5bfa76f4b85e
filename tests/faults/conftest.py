"""Installations for fault injection, each with a database that the test can query."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, running_postgres
from tests.faults.installation import Installation
from tests.faults.services import Services
from tests.postgres import PostgresServer

#: The data folder's name in the folder of an installation.
_SQLITE_FILE = Path("data/schedviz.sqlite3")


@contextmanager
def connected_models(url: str) -> Iterator[None]:
    """Connect the Django models of this process to that database."""
    from django.db import connections

    from schedviz.web.environment import database

    before = connections.settings["default"]
    connections["default"].close()
    connections.settings["default"] = connections.configure_settings({"default": database(url, synchronous="NORMAL")})["default"]
    del connections["default"]
    try:
        yield
    finally:
        connections["default"].close()
        connections.settings["default"] = before
        del connections["default"]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A temporary folder with an empty `data` folder. Not pytest's tmp_path, which pytest keeps for three runs: a database may be large."""
    with tempfile.TemporaryDirectory(prefix="schedviz-faults-") as name:
        (Path(name) / "data").mkdir(mode=0o700)
        yield Path(name)


def migrate(url: str, data: Path) -> None:
    """Apply all migrations to an empty database."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "schedviz.settings", "SCHEDVIZ_DATABASE_URL": url, "SCHEDVIZ_DATA": str(data)}
    subprocess.run([sys.executable, "-m", "django", "migrate", "--verbosity", "0"], cwd=ROOT, env=environment, check=True)


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with all migrations, to copy. Applying them takes seconds, and the start of `schedviz up` without them is tested in
    tests/up."""
    folder = tmp_path_factory.mktemp("migrated")
    (folder / "data").mkdir()
    migrate(sqlite_url(folder), folder / "data")
    return folder / _SQLITE_FILE


@pytest.fixture(scope="session")
def migrated_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The data folder of a stopped PostgreSQL with all migrations, to copy."""
    for server in running_postgres():
        migrate(server.url, tmp_path_factory.mktemp("migrated"))
        server.stop_gracefully()
        yield server.data
        server.resume()


@pytest.fixture
def postgres(migrated_postgres: Path) -> Iterator[PostgresServer]:
    """A PostgreSQL that the test may stop and start."""
    yield from running_postgres(migrated_postgres)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest, folder: Path) -> str:
    """The URL of a database of each kind."""
    if request.param == "sqlite":
        return sqlite_url(folder)
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.url


def sqlite_url(folder: Path) -> str:
    return f"sqlite:///{folder / _SQLITE_FILE}"


def copy_migrated(template: Path, folder: Path, url: str) -> None:
    """Put a copy of the migrated SQLite file at the URL. PostgreSQL servers are started with a migrated database."""
    if url == sqlite_url(folder):
        Path(shutil.copy(template, folder / _SQLITE_FILE)).chmod(0o600)


StartUp = Callable[..., Installation]
StartServices = Callable[..., Services]


@pytest.fixture
def start_up(folder: Path, migrated_sqlite: Path, django_db_blocker: Any) -> Iterator[StartUp]:
    """A function that starts `schedviz up` on a database and connects the Django models to it."""
    with ExitStack() as at_end, django_db_blocker.unblock():

        def start(url: str, **environment: str) -> Installation:
            copy_migrated(migrated_sqlite, folder, url)
            installation = Installation(folder, url, environment)
            at_end.callback(installation.stop)
            installation.start()
            installation.wait_until_up()
            at_end.enter_context(connected_models(url))
            return installation

        yield start


@pytest.fixture
def start_services(folder: Path, migrated_sqlite: Path, django_db_blocker: Any) -> Iterator[StartServices]:
    """A function that starts workers, web server and sweeper on a database, without a supervisor, and connects the Django models to it."""
    with ExitStack() as at_end, django_db_blocker.unblock():

        def start(url: str, **options: Any) -> Services:
            copy_migrated(migrated_sqlite, folder, url)
            at_end.enter_context(connected_models(url))
            services = Services(folder / "data", url, **options)
            at_end.callback(services.stop)
            services.start()
            return services

        yield start
