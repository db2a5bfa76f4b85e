"""The child that has a database: `python -m schedviz.up.housekeeper URL`.

It migrates, writes DATA/token, makes a first session on a fresh data folder, and sweeps. The supervisor speaks to it in lines:

    login               → {"login": url}: a link that logs the local user in, once
    dead PREFIX [BUT]   whoever leases sessions under such a name is dead: those sessions are free at once; who begins with BUT lives
    killed PREFIX       the same, and none of the sessions was the cause

and it tells {"database": "ready"} once the tables are there, {"failed": sentence} when they cannot be or the environment cannot be
read, {"house": "ready"} when it listens, {"cleared": PREFIX [BUT]} when those sessions are free. It ends with its input.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import selectors
import sys
from functools import partial
from pathlib import Path
from typing import Any

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import DatabaseError, connection

logger = logging.getLogger("schedviz.up.housekeeper")

EXIT_NO_DATABASE = 3
EXIT_MISCONFIGURED = 4

DEMO_NAME = "A first look: four nodes"
DEMO_CLUSTER: dict[str, Any] = {"shape": "demo"}


def main(url: str) -> int:
    """Prepare, then keep house until the input ends."""
    try:
        django.setup()
    except ImproperlyConfigured as error:
        _tell(failed=str(error))
        return EXIT_MISCONFIGURED
    try:
        _migrate()
    except DatabaseError as error:
        _tell(failed=f"The database cannot be used: {' '.join(str(error).split())}")
        return EXIT_NO_DATABASE
    # Before the web server runs, so that it is there when /healthz says 200.
    _keep_token()
    _tell(database="ready")
    _first_session()
    _tell(house="ready")
    _keep_house(url)
    return 0


def _migrate() -> None:
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", interactive=False, verbosity=0)


def _keep_token() -> None:
    """DATA/token holds a secret that REST accepts, readable by its user alone."""
    from django.conf import settings

    from schedviz.web.login import ensure_local_token

    path: Path = settings.DATA / "token"
    held = None
    with contextlib.suppress(FileNotFoundError):
        held = path.read_text().strip()
    secret = ensure_local_token(held)
    if secret == held and path.stat().st_mode & 0o777 == 0o600:
        return
    fresh = path.with_name(".token.new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secret + "\n")
    fresh.replace(path)


def _first_session() -> None:
    """On a fresh data folder something small is there to look at."""
    from schedviz.sessions.models import Session
    from schedviz.sessions.transfer.create import Generate, create_session
    from schedviz.web.login import local_user

    marker = _marker()
    if marker.exists():
        return
    if not Session.objects.exists():
        create_session(local_user(), DEMO_NAME, Generate(DEMO_CLUSTER))
    marker.touch()


def _marker() -> Path:
    """Its being there says that the first session was made once, even if it was deleted since."""
    from django.conf import settings

    folder: Path = settings.DATA
    return folder / ".welcomed"


def _keep_house(url: str) -> None:
    from schedviz.sessions.hosting.sweep import SWEEP_SECONDS, sweep
    from schedviz.web.login import make_login_url

    with selectors.DefaultSelector() as selector:
        selector.register(sys.stdin.fileno(), selectors.EVENT_READ)
        waiting = b""
        dead: dict[str, str] = {}
        while True:
            _guarded(partial(_clear, dead))
            if not selector.select(SWEEP_SECONDS):
                _guarded(sweep)
                continue
            data = os.read(sys.stdin.fileno(), 65536)
            if not data:
                return
            *lines, waiting = (waiting + data).split(b"\n")
            for line in lines:
                word, _, rest = line.decode().partition(" ")
                if word == "login":
                    _guarded(lambda: _tell(login=make_login_url(url)))
                elif word in {"dead", "killed"}:
                    dead[rest] = word


def _clear(dead: dict[str, str]) -> None:
    """Free the sessions of the dead (prefix → word), and have others take them; who could not be cleared stays for the next round."""
    from schedviz.sessions.hosting.lease import clear_owner
    from schedviz.sessions.hosting.sweep import sweep

    if not dead:
        return
    for who, word in list(dead.items()):
        prefix, _, but = who.partition(" ")
        clear_owner(prefix, but=but, blameless=word == "killed")
        _tell(cleared=who)
        del dead[who]
    sweep(again=True)


def _guarded(job: Any) -> None:
    """Do it, and stay alive if the database is away for a while."""
    try:
        job()
    except DatabaseError as error:
        logger.error("the database does not answer: %s", " ".join(str(error).split()))  # noqa: TRY400 (one line is enough)
        connection.close()


def _tell(**news: str) -> None:
    sys.stdout.write(json.dumps(news) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
