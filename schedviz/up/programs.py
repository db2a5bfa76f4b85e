"""Which children there are, and the environment that they share."""

from __future__ import annotations

import hashlib
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from schedviz.up.address import Reach, Tls
from schedviz.up.child import Program

ENGINE_WORKERS = 2
#: Sessions that one engine worker can host at a time; they share one core.
SLOTS = 64


def shared_environment(data: Path, redis_url: str, reach: Reach) -> dict[str, str]:
    """What every child is told."""
    return {
        **reach.environment,
        **{name: value for name, value in os.environ.items() if value or name not in reach.environment},
        "DJANGO_SETTINGS_MODULE": "schedviz.settings",
        "SCHEDVIZ_DATA": str(data),
        # Uploads on their way, and what a killed pool leaves behind; emptied at each start.
        "TMPDIR": str(data / "tmp"),
        "SCHEDVIZ_REDIS_URL": redis_url,
        "SCHEDVIZ_LOG": "json",
        "PYTHONUNBUFFERED": "1",
        # Nothing may depend on the order of sets; if something did, it would at least do so in the same way in every worker.
        "PYTHONHASHSEED": "0",
        # The engine's arrays are small: threads in NumPy's linear algebra would only cost memory and a slower start.
        "OPENBLAS_NUM_THREADS": "1",
    }


def sqlite_path(data: Path, environment: Mapping[str, str]) -> str | None:
    """The database's file; None: it is PostgreSQL."""
    url = environment.get("SCHEDVIZ_DATABASE_URL")
    if not url:
        return str(data / "schedviz.sqlite3")
    return unquote(urlsplit(url).path[1:]) if url.startswith("sqlite:///") else None


def owner_of(data: Path) -> str:
    """What the lease owners of this data folder's workers begin with, in every run of it."""
    return "up-" + hashlib.sha256(f"{socket.gethostname()}:{data}".encode()).hexdigest()[:10]


def housekeeper(url: str) -> Program:
    """Migrates, keeps the token, gives out login links, sweeps, clears the leases of the dead."""
    return Program(
        "housekeeper",
        [sys.executable, "-m", "schedviz.up.housekeeper", url],
        {"SCHEDVIZ_ROLE": "web"},
        grace_seconds=0.8,
        conversation=True,
    )


def web(listener: socket.socket, tls: Tls | None = None) -> Program:
    """The web server, on a socket that outlives it."""
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
    """Engine workers, one for each of two cores, and one worker for imports and other long jobs."""
    engines = [_worker(f"engine-{n}", "worker", "engine", "threads", SLOTS, grace=1.2) for n in range(1, ENGINE_WORKERS + 1)]
    # Celery takes two seconds to join idle processes, and a long import would take longer still: it begins again at the next start.
    return [*engines, _worker("io", "io", "io", "prefork", 2, grace=0.2)]


def _worker(name: str, role: str, queue: str, pool: str, size: int, *, grace: float) -> Program:
    return Program(
        name,
        [sys.executable, "-m", "schedviz.up.worker", name, queue, pool, str(size)],
        # Django's checks import the whole web part; the tests run them.
        {"SCHEDVIZ_ROLE": role, "CELERY_SKIP_CHECKS": "1"},
        grace_seconds=grace,
    )
