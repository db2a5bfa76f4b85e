"""Installations for fault injection, each with a database that the test can query."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import running_postgres
from tests.faults.installation import Installation
from tests.faults.services import Services
from tests.postgres import PostgresServer


@contextmanager
def looking_into(url: str) -> Iterator[None]:
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


@pytest.fixture
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL that the test may stop and start."""
    yield from running_postgres()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest, folder: Path) -> str:
    """The URL of a database of each kind."""
    if request.param == "sqlite":
        return sqlite_url(folder)
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.url


def sqlite_url(folder: Path) -> str:
    return f"sqlite:///{folder / 'data' / 'schedviz.sqlite3'}"


StartUp = Callable[..., Installation]
StartServices = Callable[..., Services]


@pytest.fixture
def start_up(folder: Path, django_db_blocker: Any) -> Iterator[StartUp]:
    """A function that starts `schedviz up` on a database and connects the Django models to it."""
    with ExitStack() as at_end, django_db_blocker.unblock():

        def start(url: str, **environment: str) -> Installation:
            installation = Installation(folder, url, environment)
            at_end.callback(installation.stop)
            installation.start()
            installation.wait_until_up()
            at_end.enter_context(looking_into(url))
            return installation

        yield start


@pytest.fixture
def start_services(folder: Path, django_db_blocker: Any) -> Iterator[StartServices]:
    """A function that starts workers, web server and sweeper on a database, without a supervisor, and connects the Django models to it."""
    from django.core.management import call_command

    with ExitStack() as at_end, django_db_blocker.unblock():

        def start(url: str, **options: Any) -> Services:
            at_end.enter_context(looking_into(url))
            call_command("migrate", interactive=False, verbosity=0)
            services = Services(folder / "data", url, **options)
            at_end.callback(services.stop)
            services.start()
            return services

        yield start
