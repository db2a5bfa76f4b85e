"""A temporary PostgreSQL server on a unix socket.

`python -m tests.postgres -m pytest ...` runs Python with those arguments and SCHEDVIZ_DATABASE_URL set to such a server.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


class PostgresServer:
    """A PostgreSQL cluster in a temporary folder, which listens on a unix socket only."""

    def __init__(self, binaries: Path) -> None:
        self._binaries = binaries
        self.folder = Path(tempfile.mkdtemp(prefix="schedviz-pg-"))
        self.data = self.folder / "data"
        self.url = f"postgresql://postgres@/postgres?host={self.folder}"

    def start(self, template: Path | None = None) -> None:
        """Create the cluster and start it. `template`: the data folder of a stopped server, to copy instead."""
        if os.getuid() == 0:
            # PostgreSQL does not run as root.
            shutil.chown(self.folder, "postgres")
        if template is None:
            self._run("initdb", "-D", str(self.data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        else:
            self._run_program("cp", "--archive", str(template), str(self.data))
        self.resume()

    def stop(self) -> None:
        self.crash()
        shutil.rmtree(self.folder, ignore_errors=True)

    def crash(self) -> None:
        """Stop it as in a power failure: it has to recover from its write-ahead log."""
        self._control("-m", "immediate", "stop")

    def stop_gracefully(self) -> None:
        """Stop it as for an upgrade: it closes all connections and writes everything that was committed."""
        self._control("-m", "fast", "stop")

    def resume(self) -> None:
        """Start it with its existing data."""
        # fsync is off: data that a killed process wrote survives anyway; only a power failure of the machine would lose it.
        # lock_timeout makes a test fail, instead of hang, if a lock is never released.
        options = f"-k {self.folder} -c listen_addresses='' -c max_connections=200 -c fsync=off -c lock_timeout=60s"
        self._control("-o", options, "-l", str(self.folder / "log"), "start")

    def set_read_only(self, *, on: bool) -> None:
        """Let new transactions write, or refuse that as a standby does."""
        self._sql(f"ALTER SYSTEM SET default_transaction_read_only = {'on' if on else 'off'}", "SELECT pg_reload_conf()")

    def _sql(self, *statements: str) -> None:
        commands = [option for statement in statements for option in ("-c", statement)]
        self._run("psql", "-h", str(self.folder), "-U", "postgres", "-q", "-o", "/dev/null", *commands)

    def _control(self, *arguments: str) -> None:
        self._run("pg_ctl", "-D", str(self.data), "-w", *arguments)

    def _run(self, program: str, *arguments: str) -> None:
        self._run_program(str(self._binaries / program), *arguments)

    def _run_program(self, *command: str) -> None:
        as_postgres = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        done = subprocess.run([*as_postgres, *command], cwd="/", check=False, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr


def binaries() -> Path | None:
    """The folder of PostgreSQL's programs, or None if it is not installed."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return installed[-1].parent if installed else None


def main(arguments: list[str]) -> int:
    result = binaries()
    if result is None:
        sys.stderr.write("PostgreSQL (initdb) was not found. Install it: apt install postgresql.\n")
        return 1 if os.environ.get("CI", "").lower() == "true" else 0
    server = PostgresServer(result)
    server.start()
    try:
        environment = {**os.environ, "SCHEDVIZ_DATABASE_URL": server.url}
        return subprocess.run([sys.executable, *arguments], check=False, env=environment).returncode
    finally:
        server.stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
