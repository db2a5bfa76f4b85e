"""The web server and the engine workers on separate hosts (network namespaces), PostgreSQL and Redis on another, and unplugged network cables.

A process behind an unplugged cable receives nothing, not even the end of its connections. Killing a process cannot show that.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
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

#: The last number of each host's address. PostgreSQL and Redis listen at `SERVICES`, in the network namespace of the tests.
SERVICES = 1
HOSTS = {"web": 2, "engine-1": 3, "engine-2": 4}
MIGRATE = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from schedviz.web.auth.login import ensure_local_token
print(ensure_local_token(None))
"""


def ip(*words: str) -> bool:
    """Run `ip` with these arguments; whether it succeeded."""
    try:
        return subprocess.run(["ip", *words], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def output_of_ip(*words: str) -> str:
    """What `ip` prints for these arguments; empty if it failed or is not installed."""
    try:
        return subprocess.run(["ip", *words], capture_output=True, check=False, text=True).stdout
    except FileNotFoundError:
        return ""


class Network:
    """A bridge in the network namespace of the tests, with one namespace (a host) at each of its ports.

    The names of the bridge and of the namespaces start with `sv` and the process id of their test run.
    """

    def __init__(self, pid: int) -> None:
        self._name = f"sv{pid}"
        taken = output_of_ip("-o", "-4", "addr")
        self._subnet = next(subnet for n in range(77, 255) if f" {(subnet := f'10.213.{n}')}." not in taken)

    def start(self) -> bool:
        """Create the network. Returns False if this machine does not permit it."""
        services = f"{self.address(SERVICES)}/24"
        if not (ip("link", "add", self._name, "type", "bridge") and ip("addr", "add", services, "dev", self._name)):
            return False
        done = [ip("link", "set", self._name, "up")]
        for host, number in HOSTS.items():
            namespace = self._namespace(host)
            done += [
                ip("netns", "add", namespace),
                ip("link", "add", self._port(host), "type", "veth", "peer", "name", "eth0", "netns", namespace),
                ip("link", "set", self._port(host), "master", self._name, "up"),
                ip("-n", namespace, "addr", "add", f"{self.address(number)}/24", "dev", "eth0"),
                ip("-n", namespace, "link", "set", "eth0", "up"),
                ip("-n", namespace, "link", "set", "lo", "up"),
            ]
        return all(done)

    def stop(self) -> None:
        for host in HOSTS:
            # A process that is still stopping keeps its namespace. The bridge's end of the cable is still deleted.
            ip("link", "delete", self._port(host))
            ip("netns", "delete", self._namespace(host))
        ip("link", "delete", self._name)

    def kill_processes(self) -> None:
        """Kill every process in the namespaces."""
        for host in HOSTS:
            for pid in output_of_ip("netns", "pids", self._namespace(host)).split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)

    def address(self, number: int) -> str:
        return f"{self._subnet}.{number}"

    def prefix(self, host: str) -> list[str]:
        """The start of a command line that runs on this host."""
        return ["ip", "netns", "exec", self._namespace(host)]

    def unplug(self, host: str) -> None:
        assert ip("link", "set", self._port(host), "down")

    def plug_in(self, host: str) -> None:
        assert ip("link", "set", self._port(host), "up")

    def _namespace(self, host: str) -> str:
        return f"{self._name}-{host}"

    def _port(self, host: str) -> str:
        return f"{self._name}{host[0]}{host[-1]}"


def remove_stale_networks() -> None:
    """Remove the networks, and kill the processes, of test runs that were killed before they could clean up."""
    links, namespaces = output_of_ip("-o", "link"), output_of_ip("netns", "list")
    for pid in {int(found) for found in re.findall(r"\bsv(\d+)(?=[:@-])", links + namespaces)}:
        if not Path(f"/proc/{pid}").exists():
            stale = Network(pid)
            stale.kill_processes()
            stale.stop()


class Hosts:
    """The processes of one installation, each on its host."""

    def __init__(self, network: Network, folder: Path, database: TlsPostgres, redis: TlsRedis) -> None:
        self.network = network
        self._database = database
        self._folder = folder
        web_address = network.address(HOSTS["web"])
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("SCHEDVIZ_")},
            "DJANGO_SETTINGS_MODULE": "schedviz.settings",
            "SCHEDVIZ_DATA": str(folder),
            "SCHEDVIZ_SECRET_KEY": "x" * 48,
            "SCHEDVIZ_DATABASE_URL": database.verified,
            "SCHEDVIZ_REDIS_URL": redis.verified,
            "SCHEDVIZ_ALLOWED_HOSTS": web_address,
            "SCHEDVIZ_LOG": "json",
            "OPENBLAS_NUM_THREADS": "1",
        }
        self.client = Client(8000, host=web_address)
        web = ("-m", "uvicorn", "schedviz.asgi:application", "--host", web_address, "--lifespan", "off", "--log-level", "warning")
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
        """The engine worker that hosts the session."""
        [[owner]] = self.rows("SELECT lease_owner FROM scheduling_session WHERE id = %s", session_id)
        return next((engine for engine in self.engines if owner.startswith(f"{engine.owner}.")), None)

    def _service(self, name: str, role: str, host: str | None, *command: str) -> Service:
        prefix = self.network.prefix(host) if host else []
        return Service(name, [*prefix, sys.executable, *command], {**self._environment, "SCHEDVIZ_ROLE": role}, self._folder)


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    programs, binary = binaries(), _redis_binary()
    if programs is None or binary is None:
        missing("PostgreSQL (initdb) or redis-server", "Install them: apt install postgresql redis-server.")
    remove_stale_networks()
    network = Network(os.getpid())
    if not network.start():
        network.stop()
        pytest.skip("This machine does not permit network namespaces: they need root and iproute2.")
    services = network.address(SERVICES)
    certificates(tmp_path, services)
    database, redis = TlsPostgres(programs, tmp_path, services), TlsRedis(binary, tmp_path, services)
    database.start()
    redis.start()
    installation = Hosts(network, tmp_path / "data", database, redis)
    (tmp_path / "data").mkdir()
    try:
        installation.start()
        yield installation
    finally:
        installation.stop()
        redis.stop()
        database.stop()
        network.stop()


def test_a_later_run_removes_the_network_of_a_killed_run():
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    stale = Network(killed.pid)
    started = stale.start()
    if not started:
        stale.stop()
        pytest.skip("This machine does not permit network namespaces: they need root and iproute2.")
    left = subprocess.Popen([*stale.prefix("web"), "sleep", "600"], start_new_session=True)
    until(lambda: str(left.pid) in output_of_ip("netns", "pids", f"sv{killed.pid}-web").split())

    remove_stale_networks()

    assert left.wait(10) == -signal.SIGKILL
    assert f"sv{killed.pid}" not in output_of_ip("-o", "link") + output_of_ip("netns", "list")


def test_a_disconnected_worker_loses_no_command_and_blocks_no_session(hosts: Hosts) -> None:
    client = hosts.client
    sessions = [client.make_session(f"number {n}", {"nodes": 4, "pods": 400, "seed": n}) for n in range(4)]
    until(lambda: all(client.session(session)["status"] == "ready" for session in sessions))
    stopped = threading.Event()
    senders = [Sender(client, session_id, seed, stopped) for seed, session_id in enumerate(sessions)]
    for sender in senders:
        sender.start()
    until(lambda: all(len(sender.sent) > 3 for sender in senders))

    for unplugged in hosts.engines:
        until(lambda unplugged=unplugged: any(hosts.owner(session) is unplugged for session in sessions), seconds=120)
        theirs = [session for session in sessions if hosts.owner(session) is unplugged]
        hosts.network.unplug(unplugged.name)
        # The other worker takes over its sessions and continues, whatever locks the disconnected worker held in the database.
        until(lambda theirs=theirs, unplugged=unplugged: all(hosts.owner(their) not in (None, unplugged) for their in theirs), seconds=120)
        reached = {session: client.session(session)["appliedSeq"] for session in sessions}
        until(lambda reached=reached: all(client.session(each)["appliedSeq"] > seq for each, seq in reached.items()), seconds=120)
        hosts.network.plug_in(unplugged.name)
        # It detects that it lost its leases, and then hosts sessions again.
        until(client.is_up, seconds=120)
        assert unplugged.process.poll() is None

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
