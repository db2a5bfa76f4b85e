"""The programs of the children, and their shared environment."""

from __future__ import annotations

import hashlib
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from schedviz.up.address import ServerAddress, Tls
from schedviz.up.child import Program

ENGINE_WORKERS = 2
#: Sessions that one engine worker can host at once, on one core.
SLOTS = 64


def shared_environment(data: Path, redis_url: str, server_address: ServerAddress) -> dict[str, str]:
    """The environment of every child."""
    # The limits among users only delay a single one.
    of_one_user = {} if server_address.is_open_to_others or _is_behind_a_proxy() else {"SCHEDVIZ_ANALYSES_PER_USER": "0"}
    return {
        **of_one_user,
        **server_address.environment,
        **{name: value for name, value in os.environ.items() if value or name not in server_address.environment},
        "DJANGO_SETTINGS_MODULE": "schedviz.settings",
        "SCHEDVIZ_DATA": str(data),
        # Uploads in progress, and files left by killed processes of io and experiments; emptied at each start.
        "TMPDIR": str(data / "tmp"),
        "SCHEDVIZ_REDIS_URL": redis_url,
        "SCHEDVIZ_LOG": "json",
        "PYTHONUNBUFFERED": "1",
        # Nothing may depend on the order of sets. A fixed seed makes a mistake reproducible in every worker.
        "PYTHONHASHSEED": "0",
        # The engine's arrays are small: threads of NumPy's linear algebra would cost memory and a slower start.
        "OPENBLAS_NUM_THREADS": "1",
    }


def _is_behind_a_proxy() -> bool:
    """Whether the settings are those of a server that others reach through a proxy of this machine."""
    return any(os.environ.get(name, "") not in ("", "0") for name in ("SCHEDVIZ_PUBLIC", "SCHEDVIZ_PUBLIC_DEMO", "SCHEDVIZ_PROXIES"))


def sqlite_path(data: Path, environment: Mapping[str, str]) -> str | None:
    """The database file; None for PostgreSQL."""
    url = environment.get("SCHEDVIZ_DATABASE_URL")
    if not url:
        return str(data / "schedviz.sqlite3")
    return unquote(urlsplit(url).path[1:]) if url.startswith("sqlite:///") else None


def owner_of(data: Path) -> str:
    """The prefix of lease owners of this data folder's workers, in every run."""
    return "up-" + hashlib.sha256(f"{socket.gethostname()}:{data}".encode()).hexdigest()[:10]


def housekeeper(url: str) -> Program:
    """Migrates, writes the token, creates login links, sweeps, and releases leases of crashed owners."""
    return Program(
        "housekeeper",
        [sys.executable, "-m", "schedviz.up.housekeeper", url],
        # The role of a process that may create the database file.
        {"SCHEDVIZ_ROLE": "web"},
        grace_seconds=0.8,
        talks_to_supervisor=True,
    )


def web(listener: socket.socket, tls: Tls | None = None) -> Program:
    """The web server, on a socket that the supervisor holds."""
    descriptor = listener.fileno()
    files = [str(tls.certificate), str(tls.key)] if tls else []
    return Program(
        "web",
        [sys.executable, "-m", "schedviz.up.web_server", str(descriptor), *files],
        {"SCHEDVIZ_ROLE": "web"},
        grace_seconds=1.2,
        inherit=(descriptor,),
        awaits_database=True,
    )


def workers() -> list[Program]:
    """Two engine workers (one core each), one worker for imports and other long jobs, and one of low priority for experiments."""
    engines = [_worker(f"engine-{n}", "worker", "engine", "threads", SLOTS, grace=1.2) for n in range(1, ENGINE_WORKERS + 1)]
    # Celery takes two seconds to join idle processes, which is too long for an end. An interrupted import begins again at the next start.
    others = [
        _worker("io", "io", "io", "prefork", 2, grace=0.2),
        # A trial that is interrupted starts again.
        _worker("experiments", "experiments", "experiments", "prefork", 2, grace=0.2),
    ]
    return [*engines, *others]


def _worker(name: str, role: str, queue: str, pool: str, size: int, *, grace: float) -> Program:
    return Program(
        name,
        [sys.executable, "-m", "schedviz.up.worker", name, queue, pool, str(size)],
        {"SCHEDVIZ_ROLE": role},
        grace_seconds=grace,
    )
