"""The child that uses the database: `python -m schedviz.up.housekeeper URL`.

It migrates, writes DATA/token, and sweeps. The supervisor sends it lines:

    login                writes {"login": url}: a one-time login link for the local user
    dead PREFIX [BUT]    releases the leases of owners whose names begin with PREFIX but not with BUT; these owners have ended
    killed PREFIX [BUT]  the same, if none of the sessions caused the end

It writes {"database": "ready"} once the tables exist, or {"failed": sentence} if they cannot be created or the environment is invalid,
{"housekeeper": "ready"} when it reads lines, and {"cleared": PREFIX [BUT]} when those leases are released. It ends with its input.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import selectors
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import DatabaseError, connection

logger = logging.getLogger("schedviz.up.housekeeper")

EXIT_NO_DATABASE = 3
EXIT_MISCONFIGURED = 4


def main(url: str) -> int:
    """Prepare the database, then serve until the input ends."""
    try:
        django.setup()
    except ImproperlyConfigured as error:
        _report(failed=str(error))
        return EXIT_MISCONFIGURED
    try:
        _migrate()
    except DatabaseError as error:
        _report(failed=f"The database cannot be used: {' '.join(str(error).split())}")
        return EXIT_NO_DATABASE
    except _NewerDatabaseError as error:
        _report(failed=str(error))
        return EXIT_MISCONFIGURED
    # Before the web server runs, so that the token exists when /healthz returns 200.
    try:
        _keep_token()
    except OSError as error:
        _report(
            failed=f"{error.filename} cannot be read or written: {error.strerror}. Remove it; a new token is created at the next start."
        )
        return EXIT_MISCONFIGURED
    _report(database="ready")
    _report(housekeeper="ready")
    _serve(url)
    return 0


class _NewerDatabaseError(Exception):
    """A newer version of schedviz has migrated the database."""


def _migrate() -> None:
    """Create and change the tables. Raises `_NewerDatabaseError`."""
    from django.db.migrations.executor import MigrationExecutor

    from schedviz.sessions.queries.database import migrations_of_newer_version

    executor = MigrationExecutor(connection)
    if newer := migrations_of_newer_version(executor.loader):
        raise _NewerDatabaseError(
            f"A newer version of schedviz has changed the tables of this database ({', '.join(newer[:3])}), and this version may not "
            "read or write them correctly. Start that version again, or restore a backup that this version wrote (docs/operations.md)."
        )
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", interactive=False, verbosity=0)


def _keep_token() -> None:
    """Write DATA/token, a secret for REST, readable only by its user."""
    from django.conf import settings

    from schedviz.web.auth.login import ensure_local_token

    path: Path = settings.DATA / "token"
    stored = None
    with contextlib.suppress(FileNotFoundError):
        # What is not UTF-8 is no token, and is replaced.
        stored = path.read_text("utf-8", errors="replace").strip()
    secret = ensure_local_token(stored)
    if secret == stored and path.stat().st_mode & 0o777 == 0o600:
        return
    new = path.with_name(".token.new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secret + "\n")
    new.replace(path)


def _serve(url: str) -> None:
    """Sweep, and execute the supervisor's commands, until the input ends."""
    from schedviz.sessions.hosting.sweep import SWEEP_SECONDS, sweep
    from schedviz.web.auth.login import make_login_url

    with selectors.DefaultSelector() as selector:
        selector.register(sys.stdin.fileno(), selectors.EVENT_READ)
        waiting = b""
        #: Ended owners (PREFIX [BUT]) whose leases are not released yet -> the cause.
        ended: dict[str, str] = {}
        while True:
            _release_leases(ended)
            if not selector.select(SWEEP_SECONDS):
                _guarded(sweep)
                continue
            data = os.read(sys.stdin.fileno(), 65536)
            if not data:
                return
            *lines, waiting = (waiting + data).split(b"\n")
            for line in lines:
                command, _, rest = line.decode().partition(" ")
                if command == "login":
                    _guarded(lambda: _report(login=make_login_url(url)))
                elif command in {"dead", "killed"}:
                    ended[rest] = command


def _release_leases(ended: dict[str, str]) -> None:
    """Release the leases of ended owners (PREFIX [BUT] -> cause), and wake workers for them.

    Owners whose leases cannot be released now stay in `ended` for the next round.
    """
    from schedviz.sessions.hosting.sweep import sweep

    if not ended:
        return
    for owner, cause in list(ended.items()):
        if _guarded(partial(_release_leases_of, owner, cause)):
            _report(cleared=owner)
            del ended[owner]
    _guarded(partial(sweep, force=True))


def _release_leases_of(owner: str, cause: str) -> None:
    from schedviz.sessions.experiments import trial_lease
    from schedviz.sessions.hosting.lease import clear_owner

    prefix, _, but = owner.partition(" ")
    clear_owner(prefix, but=but, killed_externally=cause == "killed")
    trial_lease.clear_owner(prefix, but=but, killed_externally=cause == "killed")


def _guarded(task: Callable[[], object]) -> bool:
    """Run a task, and log an unreachable database instead of failing. Whether it succeeded."""
    try:
        task()
    except DatabaseError as error:
        logger.error("the database does not respond: %s", " ".join(str(error).split()))  # noqa: TRY400 (one line is enough)
        connection.close()
        return False
    return True


def _report(**message: str) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
