"""A PostgreSQL of one's own, on a unix socket in a folder of its own.

`python -m tests.postgres -m pytest ...` runs Python with those arguments and the sessions' database in such a one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


class PostgresServer:
    """A PostgreSQL cluster in a folder of its own, that listens on a unix socket alone."""

    def __init__(self, binaries: Path) -> None:
        self._binaries = binaries
        self.folder = Path(tempfile.mkdtemp(prefix="schedviz-pg-"))
        self.url = f"postgresql://postgres@/postgres?host={self.folder}"

    def start(self) -> None:
        if os.getuid() == 0:
            # PostgreSQL refuses to run as root.
            shutil.chown(self.folder, "postgres")
        self._run("initdb", "-D", str(self.folder / "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        self.resume()

    def stop(self) -> None:
        self.crash()
        shutil.rmtree(self.folder, ignore_errors=True)

    def crash(self) -> None:
        """End it as a power cut would: it has to recover from its log."""
        self._control("-m", "immediate", "stop")

    def stop_in_order(self) -> None:
        """End it as an upgrade does: who is connected is sent away, and what was committed is written."""
        self._control("-m", "fast", "stop")

    def resume(self) -> None:
        """Start it again with the data that it has."""
        # Not synced: what a killed process wrote is kept all the same, and only a machine that loses power would lose it. A lock
        # that nobody gives back fails the test that waits for it.
        options = f"-k {self.folder} -c listen_addresses='' -c max_connections=200 -c fsync=off -c lock_timeout=60s"
        self._control("-o", options, "-l", str(self.folder / "log"), "start")

    def _control(self, *arguments: str) -> None:
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-w", *arguments)

    def _run(self, program: str, *arguments: str) -> None:
        as_postgres = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        done = subprocess.run(
            [*as_postgres, str(self._binaries / program), *arguments], cwd="/", check=False, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr


def binaries() -> Path | None:
    """Where PostgreSQL's programs are; None: it is not installed."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return installed[-1].parent if installed else None


def main(arguments: list[str]) -> int:
    found = binaries()
    if found is None:
        sys.stderr.write("PostgreSQL (initdb) was not found. Install it: apt install postgresql.\n")
        return 1 if os.environ.get("CI", "").lower() == "true" else 0
    server = PostgresServer(found)
    server.start()
    try:
        environment = {**os.environ, "SCHEDVIZ_DATABASE_URL": server.url}
        return subprocess.run([sys.executable, *arguments], check=False, env=environment).returncode
    finally:
        server.stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
