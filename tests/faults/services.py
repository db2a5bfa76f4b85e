"""Redis, web servers, workers and the sweeper as separate processes without a supervisor, as in containers."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.conftest import RedisServer, _redis_binary, until
from tests.faults.client import Client


class Service:
    """A process with its log. The names of lease owners in it start with its name."""

    def __init__(self, name: str, command: list[str], environment: dict[str, str], folder: Path) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self._command = command
        self._environment = environment
        self._generation = 0
        self.process: subprocess.Popen[bytes]

    @property
    def owner(self) -> str:
        return f"{self.name}-{self._generation}"

    def start(self) -> None:
        self._generation += 1
        environment = {**self._environment, "SCHEDVIZ_OWNER": self.owner}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process and its children."""
        os.killpg(self.process.pid, number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        if self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()


class Services:
    """All services on one data folder and one migrated database. `slots`: the number of sessions that each engine worker hosts;
    `experiments`: the number of workers that run trials."""

    def __init__(self, folder: Path, database_url: str, *, slots: tuple[int, ...] = (64, 64), webs: int = 1, experiments: int = 0) -> None:
        self.folder = folder
        self._sockets = tempfile.TemporaryDirectory(prefix="schedviz-")
        binary = _redis_binary()
        assert binary is not None, "redis-server was not found: install it."
        self.redis = RedisServer(binary, Path(self._sockets.name) / "redis")
        #: One for each web server.
        self.clients = [Client(_free_port()) for _ in range(webs)]
        self.client = self.clients[0]
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("SCHEDVIZ_")},
            "DJANGO_SETTINGS_MODULE": "schedviz.settings",
            "SCHEDVIZ_DATA": str(folder),
            "SCHEDVIZ_DATABASE_URL": database_url,
            "SCHEDVIZ_REDIS_URL": self.redis.url,
            "SCHEDVIZ_LOG": "json",
            "OPENBLAS_NUM_THREADS": "1",
        }

        def service(name: str, role: str, *command: str) -> Service:
            # PostgreSQL names its connections after the service.
            return Service(name, [sys.executable, *command], {**environment, "SCHEDVIZ_ROLE": role, "PGAPPNAME": name}, folder)

        def worker(name: str, queue: str, role: str, pool: str, size: int) -> Service:
            return service(name, role, "-m", "schedviz.up.worker", name, queue, pool, str(size))

        def web(n: int, port: int) -> Service:
            command = ("-m", "uvicorn", "schedviz.asgi:application", "--port", str(port), "--lifespan", "off", "--log-level", "warning")
            protocols = (
                "--http",
                "schedviz.web.server.head_limit:HeadLimit",
                "--ws",
                "websockets-sansio",
                "--ws-per-message-deflate",
                "false",
            )
            return service("web" if n == 1 else f"web-{n}", "web", *command, *protocols, "--timeout-keep-alive", "75")

        self.engines = [worker(f"engine-{n}", "engine", "worker", "threads", size) for n, size in enumerate(slots, start=1)]
        self.webs = [web(n, client.port) for n, client in enumerate(self.clients, start=1)]
        self.web = self.webs[0]
        self.io = worker("io", "io", "io", "prefork", 2)
        #: Workers that run trials, one at a time.
        self.experiments = [worker(f"experiments-{n}", "experiments", "experiments", "prefork", 1) for n in range(1, experiments + 1)]
        self.sweeper = service("sweeper", "web", "-m", "django", "sweep")

    @property
    def all(self) -> list[Service]:
        return [*self.webs, self.io, self.sweeper, *self.engines, *self.experiments]

    def start(self) -> None:
        """Start all services, and wait until /healthz reports that they are up."""
        from schedviz.web.auth.login import ensure_local_token

        token = ensure_local_token(None)
        for client in self.clients:
            client.token = token
        self.redis.start()
        for one in self.all:
            one.start()
        until(self._is_up, seconds=180)

    def stop(self) -> None:
        for one in self.all:
            one.stop()
        self.redis.kill()
        self._sockets.cleanup()

    def _is_up(self) -> bool:
        for one in self.all:
            assert one.process.poll() is None, one.log.read_text(errors="replace")[-4000:]
        return all(client.is_up() for client in self.clients)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
