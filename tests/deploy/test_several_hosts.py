"""Web server and engine workers on hosts of their own (network namespaces), the database and Redis on another, and a cable that is pulled out.

Who is on the other side of a cut hears nothing, not even that a connection has ended: that is what no killed process can show.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.conftest import ROOT, _redis_binary, missing, until
from tests.deploy.over_tls import TlsPostgres, TlsRedis, certificates
from tests.faults.client import Client
from tests.faults.sender import Sender
from tests.faults.services import Service
from tests.postgres import binaries

pytestmark = pytest.mark.postgres

#: This one has PostgreSQL and Redis.
HERE = "10.213.77.1"
ADDRESSES = {"web": "10.213.77.2", "engine-1": "10.213.77.3", "engine-2": "10.213.77.4"}
MIGRATE = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from schedviz.web.login import ensure_local_token
print(ensure_local_token(None))
"""


def ip(*words: str) -> bool:
    try:
        return subprocess.run(["ip", *words], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


class Network:
    """A switch in this namespace, and a host at each of its ports."""

    def __init__(self) -> None:
        self._name = f"sv{os.getpid()}"

    def start(self) -> bool:
        """Whether this machine lets itself be cut up."""
        if not (ip("link", "add", self._name, "type", "bridge") and ip("addr", "add", f"{HERE}/24", "dev", self._name)):
            return False
        done = [ip("link", "set", self._name, "up")]
        for host, address in ADDRESSES.items():
            inside = self.inside(host)[3]
            done += [
                ip("netns", "add", inside),
                ip("link", "add", self._port(host), "type", "veth", "peer", "name", "eth0", "netns", inside),
                ip("link", "set", self._port(host), "master", self._name, "up"),
                ip("-n", inside, "addr", "add", f"{address}/24", "dev", "eth0"),
                ip("-n", inside, "link", "set", "eth0", "up"),
                ip("-n", inside, "link", "set", "lo", "up"),
            ]
        return all(done)

    def stop(self) -> None:
        for host in ADDRESSES:
            # The switch's end of a cable outlives a namespace that a stopping process still holds.
            ip("link", "delete", self._port(host))
            ip("netns", "delete", self.inside(host)[3])
        ip("link", "delete", self._name)

    def inside(self, host: str) -> list[str]:
        """What a command there begins with."""
        return ["ip", "netns", "exec", f"{self._name}-{host}"]

    def cut(self, host: str) -> None:
        assert ip("link", "set", self._port(host), "down")

    def mend(self, host: str) -> None:
        assert ip("link", "set", self._port(host), "up")

    def _port(self, host: str) -> str:
        return f"{self._name}{host[0]}{host[-1]}"


class Hosts:
    """Everything that computes, each at its own."""

    def __init__(self, network: Network, folder: Path, database: TlsPostgres, redis: TlsRedis) -> None:
        self.network = network
        self._database = database
        self._folder = folder
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("SCHEDVIZ_")},
            "DJANGO_SETTINGS_MODULE": "schedviz.settings",
            "SCHEDVIZ_DATA": str(folder),
            "SCHEDVIZ_SECRET_KEY": "x" * 48,
            "SCHEDVIZ_DATABASE_URL": database.verified,
            "SCHEDVIZ_REDIS_URL": redis.verified,
            "SCHEDVIZ_ALLOWED_HOSTS": ADDRESSES["web"],
            "SCHEDVIZ_LOG": "json",
            "OPENBLAS_NUM_THREADS": "1",
        }
        self.client = Client(8000, host=ADDRESSES["web"])
        web = ("-m", "uvicorn", "schedviz.asgi:application", "--host", ADDRESSES["web"], "--lifespan", "off", "--log-level", "warning")
        worker = ("-m", "celery", "-A", "schedviz.celery", "worker", "-l", "WARNING", "--without-gossip", "--without-mingle")
        self.engines = [
            self._service(name, "worker", name, *worker, "-n", f"{name}@tests", "-Q", "engine", "-P", "threads", "-c", "16")
            for name in ("engine-1", "engine-2")
        ]
        self._all = [
            self._service("web", "web", "web", *web),
            *self.engines,
            self._service("io", "io", None, *worker, "-n", "io@tests", "-Q", "io", "-P", "prefork", "-c", "1"),
            self._service("sweeper", "sweeper", None, "-m", "django", "sweep"),
        ]

    def start(self) -> None:
        done = subprocess.run([sys.executable, "-c", MIGRATE], cwd=ROOT, env=self._environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        self.client.token = done.stdout.strip()
        for service in self._all:
            service.start()
        until(self.client.is_up, seconds=180)

    def stop(self) -> None:
        for service in self._all:
            service.stop()

    def rows(self, query: str, session_id: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self._database.verified) as connection:
            return connection.execute(query, [UUID(session_id)]).fetchall()

    def owner(self, session_id: str) -> Service | None:
        """The engine worker that has the session."""
        [[owner]] = self.rows("SELECT lease_owner FROM scheduling_session WHERE id = %s", session_id)
        return next((engine for engine in self.engines if owner.startswith(f"{engine.owner}.")), None)

    def _service(self, name: str, role: str, host: str | None, *command: str) -> Service:
        inside = self.network.inside(host) if host else []
        return Service(name, [*inside, sys.executable, *command], {**self._environment, "SCHEDVIZ_ROLE": role}, self._folder)


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    programs, binary = binaries(), _redis_binary()
    if programs is None or binary is None:
        missing("PostgreSQL (initdb) or redis-server", "Install them: apt install postgresql redis-server.")
    network = Network()
    if not network.start():
        network.stop()
        pytest.skip("network namespaces cannot be made here: that takes root and iproute2")
    certificates(tmp_path, HERE)
    database, redis = TlsPostgres(programs, tmp_path, HERE), TlsRedis(binary, tmp_path, HERE)
    database.start()
    redis.start()
    made = Hosts(network, tmp_path / "data", database, redis)
    (tmp_path / "data").mkdir()
    try:
        made.start()
        yield made
    finally:
        made.stop()
        redis.stop()
        database.stop()
        network.stop()


def test_a_worker_whose_cable_is_pulled_out_loses_nothing_and_stops_nobody(hosts: Hosts) -> None:
    client = hosts.client
    sessions = [client.make_session(f"number {n}", {"nodes": 4, "pods": 400, "seed": n}) for n in range(4)]
    until(lambda: all(client.session(each)["status"] == "ready" for each in sessions))
    stopped = threading.Event()
    senders = [Sender(client, session_id, seed, stopped) for seed, session_id in enumerate(sessions)]
    for sender in senders:
        sender.start()
    until(lambda: all(len(sender.sent) > 3 for sender in senders))

    for cut in hosts.engines:
        until(lambda cut=cut: any(hosts.owner(each) is cut for each in sessions), seconds=120)
        theirs = [each for each in sessions if hosts.owner(each) is cut]
        hosts.network.cut(cut.name)
        # The other takes them over, whatever the cut one held in the database, and goes on.
        until(lambda theirs=theirs, cut=cut: all(hosts.owner(each) not in (None, cut) for each in theirs), seconds=120)
        reached = {each: client.session(each)["appliedSeq"] for each in sessions}
        until(lambda reached=reached: all(client.session(each)["appliedSeq"] > seq for each, seq in reached.items()), seconds=120)
        hosts.network.mend(cut.name)
        # It hears that they are another's, and takes part again.
        until(client.is_up, seconds=120)
        assert cut.process.poll() is None

    stopped.set()
    for sender in senders:
        sender.join(timeout=120)
        assert not sender.is_alive()
        assert not sender.trouble
        accepted = [seq for _, seq in sender.sent]
        until(lambda each=sender.session_id, last=accepted[-1]: client.session(each)["appliedSeq"] >= last, seconds=300)
        commands = hosts.rows("SELECT key, seq, quarantined FROM scheduling_command WHERE session_id = %s ORDER BY seq", sender.session_id)
        assert [(key, seq) for key, seq, _ in commands] == sender.sent
        assert not [seq for _, seq, quarantined in commands if quarantined]
        chunks = hosts.rows("SELECT number FROM scheduling_chunk WHERE session_id = %s ORDER BY number", sender.session_id)
        assert [number for [number] in chunks] == list(range(chunks[0][0], chunks[0][0] + len(chunks)))
