"""Sessions of small clusters, and hosting them in the test process, without a worker."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from django.core.files.base import ContentFile

from schedviz.sessions.commands import inbox
from schedviz.sessions.history import reading
from schedviz.sessions.hosting import lease, worker_loop
from schedviz.sessions.models import Chunk, Session
from schedviz.sessions.transfer import create, import_job
from schedviz.trace.commands import AnyCommand, convert_command
from schedviz.trace.events import AnyEvent
from tests.conftest import RedisServer, until

_keys = itertools.count(1)


def node(name: str, *, cpu: str = "4") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "110"}, "capacity": {"cpu": cpu, "memory": "16Gi", "pods": "110"}},
    }


def pod(name: str, *, cpu: str = "10m") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "main", "image": "registry.example/app:1", "resources": {"requests": {"cpu": cpu}}}]},
    }


def dump(nodes: int, pods: int) -> bytes:
    items = [node(f"node-{n}") for n in range(1, nodes + 1)] + [pod(f"pod-{n}") for n in range(1, pods + 1)]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()


def command(op: str, **members: Any) -> AnyCommand:
    return convert_command({"op": op, **members})


def send(session_id: UUID, op: str, **members: Any) -> int:
    """Submit a command with a new idempotency key; returns its number."""
    return inbox.accept(session_id, command(op, **members), f"key-{next(_keys)}").seq


def stored_events(session_id: UUID) -> list[AnyEvent]:
    """Every stored event. Checks that the numbers of chunks and events have no gaps."""
    chunks = list(Chunk.objects.filter(session_id=session_id).order_by("number"))
    assert [chunk.number for chunk in chunks] == list(range(1, len(chunks) + 1))
    events = reading.events(session_id, limit=1_000_000)
    first = chunks[0].first_event if chunks else 1
    assert [event.event for event in events] == list(range(first, first + len(events)))
    return events


def work_off(session_id: UUID) -> Session:
    """Host the session here until its work is done."""
    worker_loop.host_session(session_id, linger_seconds=0)
    return Session.objects.get(pk=session_id)


def crash(session_id: UUID) -> None:
    """Leave the session as a killed owner does, after its supervisor released the lease."""
    worker_loop.WARM.clear()
    lease.clear_owner(lease.owner_prefix())
    assert Session.objects.get(pk=session_id).lease_owner == ""


MakeSession = Callable[..., UUID]


@pytest.fixture
def make_session(transactional_db: None, redis: RedisServer) -> Iterator[MakeSession]:
    """A function that creates a session with that many nodes and pending pods, of any release."""

    def make(*, nodes: int = 3, pods: int = 10, **simulation: Any) -> UUID:
        source = create.Files([ContentFile(dump(nodes, pods), name="cluster.json")])
        session_id: UUID = create.create_session(None, "a test", source, simulation=simulation).pk
        import_job.run_import(session_id)
        # A worker may have taken the import first.
        session = until(lambda: Session.objects.exclude(status=Session.Status.IMPORTING).filter(pk=session_id).first())
        assert session.status == Session.Status.READY, session.message
        return session_id

    yield make
    worker_loop.WARM.clear()


@pytest.fixture
def busy(make_session: MakeSession) -> UUID:
    """A session with a varied history."""
    session_id = make_session(nodes=5, pods=40)
    send(session_id, "run", max=10)
    send(session_id, "latency", kind="Pod", seconds=2)
    send(session_id, "schedule")
    send(session_id, "bind_fail", message="no")
    send(session_id, "run", max=4)
    work_off(session_id)
    send(session_id, "delete", kind="Node", name="node-2")
    send(session_id, "advance", seconds=3)
    send(session_id, "restart")
    send(session_id, "step", unit="stage", count=5)
    work_off(session_id)
    return session_id


@pytest.fixture
def grouped(make_session: MakeSession) -> UUID:
    """A session of v1.36: cycles 1 to 3 are of one pod group, 4 to 6 of a group that does not fit, 7 of a pod alone."""
    session_id = make_session(nodes=2, pods=0, release="v1.36", feature_gates={"GenericWorkload": True, "GangScheduling": True})
    for name, cpus in (("small", ["1", "1", "1"]), ("large", ["3", "3", "3"])):
        policy = {"schedulingPolicy": {"gang": {"minCount": 3}}}
        metadata = {"name": name, "namespace": "default"}
        pod_group = {"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "metadata": metadata, "spec": policy}
        send(session_id, "create", object=pod_group)
        for number, cpu in enumerate(cpus):
            made = pod(f"{name}-{number}", cpu=cpu)
            made["spec"]["schedulingGroup"] = {"podGroupName": name}
            send(session_id, "create", object=made)
    send(session_id, "cycle")
    send(session_id, "cycle")
    send(session_id, "create", object=pod("alone"))
    send(session_id, "cycle")
    work_off(session_id)
    return session_id
