"""A `schedviz up` of its own, whose parts can be killed one by one, and which answers over HTTP as it does to anybody."""

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

#: What tells a part's process from others: words of its command line.
PARTS = {
    "engine-1": ("schedviz.up.worker", "engine-1"),
    "engine-2": ("schedviz.up.worker", "engine-2"),
    "io": ("schedviz.up.worker", "io"),
    "redis": ("redis",),
    "web": ("schedviz.up.web_server",),
    "housekeeper": ("schedviz.up.housekeeper",),
}
SUPERVISOR = "supervisor"
#: Generous: the machine may be busy with other things.
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

    # --- Living

    def start(self) -> None:
        """Start the supervisor, and return at once."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("SCHEDVIZ_", "DJANGO_"))}
        environment |= {"SCHEDVIZ_DATABASE_URL": self.database_url, **self.environment}
        command = [sys.executable, "-m", "schedviz.cli.main", "up", "--data", str(self.data), "--no-open", "--port", str(self.client.port)]
        with self.output.open("ab") as output:
            self._supervisor = subprocess.Popen(
                command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment, start_new_session=True
            )

    def wait_until_up(self) -> None:
        """Until /healthz says that everything is up."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self.client.is_up():
            if self._supervisor.poll() is not None:
                raise RuntimeError(self.output.read_text(errors="replace"))
            if time.monotonic() > deadline:
                raise TimeoutError(self.output.read_text(errors="replace"))
            time.sleep(0.1)
        self.client.token = (self.data / "token").read_text().strip()

    def stop(self) -> None:
        """End it as Ctrl-C does."""
        self._supervisor.send_signal(signal.SIGINT)
        try:
            self._supervisor.wait(30)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
            self._supervisor.wait()

    def redis_url(self) -> str:
        """Where its Redis listens, for whoever looks into it."""
        process = self.process("redis")
        assert process is not None
        line = process.cmdline()
        # Redis writes its name and its socket over its command line.
        found = re.search(r"unixsocket:(\S+)|--unixsocket (\S+)", " ".join(line))
        assert found, line
        return f"unix://{found[1] or found[2]}"

    # --- Dying

    def process(self, part: str) -> psutil.Process | None:
        """A part's process, if it is there now."""
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(self._supervisor.pid).children():
                with contextlib.suppress(psutil.Error):
                    line = child.cmdline()
                    if all(any(word in each for each in line) for word in PARTS[part]) and not any("watcher" in each for each in line):
                        return child
        return None

    def kill(self, part: str) -> bool:
        """Kill a part, with what it started, with -9; False: it is not there. The supervisor is started again by us, as by an init."""
        if part == SUPERVISOR:
            # What it leaves behind its watcher kills, or the kernel; a new one may begin before they are gone.
            self._supervisor.kill()
            self._supervisor.wait()
            self.start()
            return True
        process = self.process(part)
        if process is None:
            return False
        with contextlib.suppress(ProcessLookupError):
            # Each is the leader of its group.
            os.killpg(process.pid, signal.SIGKILL)
        return True

    def logs(self, characters: int = 2000) -> str:
        """The ends of all logs, for whoever has to find out."""
        paths = [self.output, *sorted((self.data / "logs").glob("*.log"))]
        return "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')[-characters:]}" for path in paths)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
