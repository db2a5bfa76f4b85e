"""Two web servers and two engine workers over PostgreSQL and Redis as on other hosts: TLS that is verified, users with passwords.

All tests share one set of processes, because starting takes long; the last test stops some of them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
import redis
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.conftest import ROOT, _redis_binary, missing, until
from tests.deploy.over_tls import TlsPostgres, TlsRedis, certificates, free_port
from tests.faults.client import Client
from tests.faults.services import Service
from tests.postgres import binaries

pytestmark = pytest.mark.postgres

METRICS_TOKEN = "a-token-for-the-tests-of-metrics"
MIGRATE = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from schedviz.web.auth.login import ensure_local_token
print(ensure_local_token(None))
"""


class Several:
    """The processes of a multi-process installation."""

    def __init__(self, folder: Path, database: TlsPostgres, redis_: TlsRedis) -> None:
        self.database = database
        self.redis = redis_
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("SCHEDVIZ_")},
            "DJANGO_SETTINGS_MODULE": "schedviz.settings",
            "SCHEDVIZ_DATA": str(folder),
            "SCHEDVIZ_SECRET_KEY": "x" * 48,
            "SCHEDVIZ_DATABASE_URL": database.verified,
            "SCHEDVIZ_REDIS_URL": redis_.verified,
            "SCHEDVIZ_METRICS_TOKEN": METRICS_TOKEN,
            "SCHEDVIZ_LOG": "json",
            "OPENBLAS_NUM_THREADS": "1",
        }
        self.clients = [Client(free_port()), Client(free_port())]
        self.webs = [self._web(n, client.port) for n, client in enumerate(self.clients, start=1)]
        self.engines = [self._celery(f"engine-{n}", "engine", "worker", "threads", 16) for n in (1, 2)]
        self.others = [self._celery("io", "io", "io", "prefork", 1), self._service("sweeper", "sweeper", "-m", "django", "sweep")]

    @property
    def all(self) -> list[Service]:
        return [*self.webs, *self.engines, *self.others]

    def start(self) -> None:
        done = subprocess.run([sys.executable, "-c", MIGRATE], cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        for client in self.clients:
            client.token = done.stdout.strip()
        for service in self.all:
            service.start()
        until(lambda: all(client.is_up() for client in self.clients), seconds=180)

    def stop(self) -> None:
        for service in self.all:
            service.stop()

    def row(self, session_id: str, *columns: str) -> tuple[Any, ...]:
        with psycopg.connect(self.database.verified) as connection:
            result = connection.execute(f"SELECT {', '.join(columns)} FROM scheduling_session WHERE id = %s", [UUID(session_id)]).fetchone()
        assert result is not None
        return result

    def engine_of(self, session_id: str) -> Service | None:
        """The owner of the session's lease."""
        owner = str(self.row(session_id, "lease_owner")[0])
        return next((engine for engine in self.engines if owner.startswith(f"{engine.owner}.")), None)

    def _service(self, name: str, role: str, *command: str) -> Service:
        folder = Path(self.environment["SCHEDVIZ_DATA"])
        return Service(name, [sys.executable, *command], {**self.environment, "SCHEDVIZ_ROLE": role}, folder)

    def _web(self, number: int, port: int) -> Service:
        command = ("-m", "uvicorn", "schedviz.asgi:application", "--port", str(port), "--lifespan", "off", "--log-level", "warning")
        protocols = ("--http", "schedviz.web.server.head_limit:HeadLimit", "--ws", "websockets-sansio")
        return self._service(f"web-{number}", "web", *command, *protocols, "--timeout-graceful-shutdown", "5")

    def _celery(self, name: str, queue: str, role: str, pool: str, size: int) -> Service:
        options = ("-n", f"{name}@tests", "-Q", queue, "-P", pool, "-c", str(size), "-l", "WARNING", "--without-gossip", "--without-mingle")
        return self._service(name, role, "-m", "celery", "-A", "schedviz.celery", "worker", *options)


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Several]:
    programs, binary = binaries(), _redis_binary()
    if programs is None or binary is None:
        missing("PostgreSQL (initdb) or redis-server", "Install them: apt install postgresql redis-server.")
    keys = tmp_path_factory.mktemp("keys")
    certificates(keys)
    database, redis_ = TlsPostgres(programs, keys), TlsRedis(binary, keys)
    database.start()
    redis_.start()
    made = Several(tmp_path_factory.mktemp("data"), database, redis_)
    try:
        made.start()
        yield made
    finally:
        made.stop()
        redis_.stop()
        database.stop()


@pytest.fixture(scope="module")
def session_id(several: Several) -> str:
    made = several.clients[0].make_session("over TLS", {"nodes": 20, "pods": 4000})
    until(lambda: several.clients[1].session(made)["status"] == "ready")
    return made


def test_connections_without_tls_or_with_another_certificate_authority_are_refused(several: Several, tmp_path: Path) -> None:
    certificates(tmp_path)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(f"{several.database.address}?sslmode=disable")
    with pytest.raises(psycopg.OperationalError, match="certificate verify failed"):
        psycopg.connect(f"{several.database.address}?sslmode=verify-full&sslrootcert={tmp_path / 'ca.crt'}")
    with pytest.raises(redis.ConnectionError, match="certificate verify failed"):
        redis.Redis.from_url(f"{several.redis.address}?ssl_ca_certs={tmp_path / 'ca.crt'}").ping()
    with pytest.raises(redis.ConnectionError):
        redis.Redis.from_url(several.redis.verified.replace("rediss://", "redis://").partition("?")[0]).ping()


def test_the_redis_user_has_only_the_needed_permissions(several: Several) -> None:
    connection = redis.Redis.from_url(several.redis.verified)
    with pytest.raises(redis.ResponseError):
        connection.config_get("*")
    with pytest.raises(redis.ResponseError):
        connection.flushall()
    with pytest.raises(redis.ResponseError):
        connection.set("somebody-elses", "1")


def test_viewers_of_one_web_server_see_commands_that_another_accepted(several: Several, session_id: str) -> None:
    first, second = several.clients
    url = f"ws://127.0.0.1:{second.port}/ws/v1/sessions/{session_id}/"
    with connect(url, additional_headers={"Authorization": f"Bearer {second.token}"}, max_size=None) as socket:
        assert isinstance(socket.recv(timeout=60), bytes)
        seq = first.send(session_id, "across", {"op": "cycle"})
        until(lambda: isinstance(socket.recv(timeout=60), bytes))

    until(lambda: second.session(session_id)["appliedSeq"] >= seq)


def test_each_web_server_reports_all_processes(several: Several) -> None:
    def told(client: Client) -> str:
        address = f"http://127.0.0.1:{client.port}/metrics"
        request = urllib.request.Request(address, headers={"Authorization": f"Bearer {METRICS_TOKEN}"})
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.read().decode()

    roles = ("web", "web", "worker", "worker", "io", "sweeper")
    for client in several.clients:
        until(
            lambda client=client: all(
                told(client).count(f'process_start_time_seconds{{process="{role}@') >= roles.count(role) for role in roles
            )
        )
    assert 'schedviz_workers{queue="engine"} 2.0' in told(several.clients[0])


def test_a_stopping_worker_hands_its_session_over_in_the_middle_of_a_run(several: Several, session_id: str) -> None:
    first, _ = several.clients
    run = first.send(session_id, "long", {"op": "run"})
    until(lambda: several.row(session_id, "cycle")[0] > 50)
    leaving = until(lambda: several.engine_of(session_id))
    epoch, cycle = several.row(session_id, "epoch", "cycle")
    assert first.session(session_id)["status"] == "running"

    leaving.process.send_signal(signal.SIGTERM)

    assert leaving.process.wait(30) == 0
    until(lambda: several.engine_of(session_id) not in (None, leaving))
    # It was handed over: no lease expired, and no worker was declared dead.
    assert several.row(session_id, "acquisitions")[0] <= 1
    assert several.row(session_id, "epoch")[0] > epoch
    until(lambda: several.row(session_id, "cycle")[0] > cycle, seconds=120)
    leaving.start()
    until(lambda: first.session(session_id)["appliedSeq"] >= run, seconds=300)
    status, outcome = first.request("GET", f"/api/v1/sessions/{session_id}/commands/{run}/")
    assert (status, outcome["status"], outcome["outcome"].get("error")) == (200, "done", "")
    assert several.row(session_id, "message")[0] == ""


def test_a_stopping_web_server_asks_its_viewers_to_reconnect(several: Several, session_id: str) -> None:
    stopping, client = several.webs[1], several.clients[1]
    url = f"ws://127.0.0.1:{client.port}/ws/v1/sessions/{session_id}/"
    with connect(url, additional_headers={"Authorization": f"Bearer {client.token}"}, max_size=None) as socket:
        socket.recv(timeout=60)
        stopping.process.send_signal(signal.SIGTERM)
        with pytest.raises(ConnectionClosed) as closed:
            until(lambda: socket.recv(timeout=60) is None)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1012
    stopping.process.wait(30)
    assert several.clients[0].is_up()
