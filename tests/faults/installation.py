"""A separate `schedviz up` whose parts can be killed one by one."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

from tests.faults.client import Client

#: Words of each part's command line, which identify its process.
PARTS = {
    "engine-1": ("schedviz.up.worker", "engine-1"),
    "engine-2": ("schedviz.up.worker", "engine-2"),
    "io": ("schedviz.up.worker", "io"),
    "redis": ("redis",),
    "web": ("schedviz.up.web_server",),
    "housekeeper": ("schedviz.up.housekeeper",),
}
SUPERVISOR = "supervisor"
#: Generous, since the machine may be busy.
_PATIENCE_SECONDS = 180.0


class Installation:
    """One data folder with its supervisor."""

    def __init__(self, folder: Path, database_url: str, environment: Mapping[str, str] | None = None) -> None:
        self.data = folder / "data"
        self.output = folder / "terminal.txt"
        self.database_url = database_url
        self.environment = dict(environment or {})
        self.client = Client(_free_port())
        self._supervisor: subprocess.Popen[bytes]

    # --- Lifecycle

    def start(self) -> None:
        """Start the supervisor without waiting."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("SCHEDVIZ_", "DJANGO_"))}
        environment |= {"SCHEDVIZ_DATABASE_URL": self.database_url, **self.environment}
        command = [sys.executable, "-m", "schedviz.cli.main", "up", "--data", str(self.data), "--no-open", "--port", str(self.client.port)]
        with self.output.open("ab") as output:
            self._supervisor = subprocess.Popen(
                command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment, start_new_session=True
            )

    def wait_until_up(self) -> None:
        """Wait until /healthz reports that everything is up."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self.client.is_up():
            if self._supervisor.poll() is not None:
                raise RuntimeError(self.output.read_text(errors="replace"))
            if time.monotonic() > deadline:
                raise TimeoutError(self.output.read_text(errors="replace"))
            time.sleep(0.1)
        self.client.token = (self.data / "token").read_text().strip()

    def stop(self) -> None:
        """Stop it as Ctrl-C does."""
        self._supervisor.send_signal(signal.SIGINT)
        try:
            self._supervisor.wait(30)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
            self._supervisor.wait()

    def redis_url(self) -> str:
        """The URL of its Redis."""
        process = self.process("redis")
        assert process is not None
        line = process.cmdline()
        # Redis replaces its command line by its name and its socket.
        match = re.search(r"unixsocket:(\S+)|--unixsocket (\S+)", " ".join(line))
        assert match, line
        return f"unix://{match[1] or match[2]}"

    # --- Faults

    def process(self, part: str) -> psutil.Process | None:
        """The process of a part, if it is running."""
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(self._supervisor.pid).children():
                with contextlib.suppress(psutil.Error):
                    line = child.cmdline()
                    if all(any(word in each for each in line) for word in PARTS[part]) and not any("watcher" in each for each in line):
                        return child
        return None

    def kill(self, part: str) -> bool:
        """Kill a part and its children with -9. Returns False if it is not running. The supervisor is started again, as an init would do."""
        if part == SUPERVISOR:
            # Its watcher or the kernel kills its orphans. A new one may start before they have ended.
            self._supervisor.kill()
            self._supervisor.wait()
            self.start()
            return True
        process = self.process(part)
        if process is None:
            return False
        with contextlib.suppress(ProcessLookupError):
            # Each part leads its process group.
            os.killpg(process.pid, signal.SIGKILL)
        return True

    def logs(self, characters: int = 2000) -> str:
        """The ends of all logs, for failure messages."""
        paths = [self.output, *sorted((self.data / "logs").glob("*.log"))]
        return "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')[-characters:]}" for path in paths)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
