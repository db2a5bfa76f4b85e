"""Fields that the scheduler does not read never reach the disk: the test sends markers through every input, and searches every file for them."""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import secrets
import signal
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
import yaml
from django.db import connection

from tests.conftest import until
from tests.faults.conftest import StartUp
from tests.faults.installation import Installation
from tests.postgres import PostgresServer

_API = "/api/v1/sessions/"


class Marks:
    """Texts that are nowhere else, and where each was put."""

    def __init__(self) -> None:
        #: They must be on no disk.
        self.secret: dict[bytes, str] = {}
        #: They must be found: else the search would find nothing at all.
        self.stored: dict[bytes, str] = {}

    def hide(self, where: str) -> str:
        """A mark that must not be stored."""
        mark = f"mark{secrets.token_hex(12)}"
        self.secret[mark.encode()] = where
        self.secret[base64.b64encode(mark.encode()).rstrip(b"=")[:-1]] = f"{where}, base64"
        return mark

    def show(self, where: str) -> str:
        """A mark that is stored."""
        mark = f"kept{secrets.token_hex(12)}"
        self.stored[mark.encode()] = where
        return mark


def pod(name: str, marks: Marks, way: str, *, padding: int = 0) -> dict[str, Any]:
    """A pod with marks in all that the scheduler does not read. The padding cannot be compressed, so that marks stay in one piece."""
    applied = json.dumps({"env": marks.hide(f"{way}: last-applied-configuration"), "padding": secrets.token_urlsafe(padding)})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": applied, "note": marks.hide(f"{way}: annotation")},
        },
        "spec": {
            "containers": [
                {
                    "name": "main",
                    "image": "registry.example/app:1",
                    "command": ["run", marks.hide(f"{way}: command")],
                    "args": [f"--password={marks.hide(f'{way}: args')}"],
                    "env": [{"name": "PASSWORD", "value": marks.hide(f"{way}: env")}],
                    "resources": {"requests": {"cpu": "10m"}},
                }
            ]
        },
    }


def items(marks: Marks, way: str, *, padding: int = 3000) -> dict[str, Any]:
    """A dump with Secrets in it."""
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "node-1"},
        "status": {"allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"}},
    }
    hidden = base64.b64encode(marks.hide(f"{way}: Secret data").encode()).decode()
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"password": hidden}}
    plain = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "t"}, "stringData": {"token": marks.hide(f"{way}: stringData")}}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"key": marks.hide(f"{way}: ConfigMap data")}}
    return {"apiVersion": "v1", "kind": "List", "items": [node, secret, plain, config, pod("pod-1", marks, way, padding=padding)]}


def stored_zip(name: str, data: bytes) -> bytes:
    """Not compressed: what is in it could be found."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(name, data)
    return buffer.getvalue()


def files(marks: Marks) -> dict[str, bytes]:
    """Name -> content, of every kind that is imported, and of two that fail."""
    as_json = {way: json.dumps(items(marks, way)).encode() for way in ("json", "gz", "zip", "cut", "bad")}
    large = items(marks, "large", padding=4 << 20)
    return {
        "a.json": as_json["json"],
        "a.yaml": yaml.safe_dump(items(marks, "yaml")).encode(),
        "a.json.gz": gzip.compress(as_json["gz"], 0),
        "a.zip": stored_zip("a.json", as_json["zip"]),
        # More than is kept in memory while it arrives.
        "large.json": json.dumps(large).encode(),
        "large.zip": stored_zip("a.json", json.dumps(items(marks, "large zip", padding=12 << 20)).encode()),
        "cut.json": as_json["cut"][:-2],
        "bad.json": as_json["bad"].replace(b'"10m"', b'"ten"'),
    }


def everything_of(folders: Iterable[Path]) -> Iterable[tuple[Path, bytes]]:
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                yield path, path.read_bytes()


class Searched:
    """The disks of an installation."""

    def __init__(self, installation: Installation, folders: list[Path]) -> None:
        self.installation = installation
        self.folders = folders

    def expect_none_of(self, marks: Marks) -> None:
        """Look for them in every file."""
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("CHECKPOINT")
        found = set()
        for path, content in everything_of(self.folders):
            found |= {f"{where} in {path}" for mark, where in marks.secret.items() if mark in content}
        assert not found

    def expect_all_of(self, marks: Marks) -> None:
        """The search finds what is there."""
        contents = [content for _, content in everything_of(self.folders)]
        missing = {where for mark, where in marks.stored.items() if not any(mark in content for content in contents)}
        assert not missing


def test_fields_that_the_scheduler_does_not_read_never_reach_the_disk(
    start_up: StartUp, folder: Path, database_url: str, request: pytest.FixtureRequest
) -> None:
    temporary = folder / "tmp"
    temporary.mkdir()
    installation = start_up(database_url, TMPDIR=str(temporary), SCHEDVIZ_LOG_LEVEL="DEBUG", SCHEDVIZ_LOG_REQUESTS="1")
    folders = [folder]
    if connection.vendor == "postgresql":
        server: PostgresServer = request.getfixturevalue("postgres")
        folders.append(server.folder)
    searched, marks = Searched(installation, folders), Marks()
    client = installation.client
    address = f"http://127.0.0.1:{client.port}"
    with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {client.token}"}, timeout=60) as api:

        def upload(name: str, content: bytes) -> str:
            made = api.post(_API, files={"file": (name, content)}).raise_for_status()
            return str(made.json()["id"])

        def ended(session_id: str) -> str:
            return until(lambda: (status := client.session(session_id)["status"]) != "importing" and status)

        # The demo of a first start. A worker that stands still in the midst of it would hold the database's lock.
        until(lambda: [each["status"] for each in api.get(_API).json()["results"]] == ["ready"])
        # While it waits for its import, it is on the disk as it came.
        worker = installation.process("io")
        assert worker is not None
        family = [worker, *worker.children(recursive=True)]
        _signal(family, signal.SIGSTOP)
        waiting = {upload(name, content): name for name, content in files(marks).items()}
        cancelled = upload("cancelled.json", json.dumps(items(marks, "cancelled")).encode())
        deleted = upload("deleted.json", json.dumps(items(marks, "deleted")).encode())
        api.post(f"{_API}{cancelled}/cancel/").raise_for_status()
        api.delete(f"{_API}{deleted}/").raise_for_status()
        searched.expect_none_of(marks)
        _signal(family, signal.SIGCONT)

        outcomes = {name: ended(session_id) for session_id, name in waiting.items()}
        # What can be read of the damaged files is kept.
        assert set(outcomes.values()) == {"ready"}
        ended(cancelled)
        searched.expect_none_of(marks)

        session = next(session_id for session_id, name in waiting.items() if name == "a.json")
        _send_in_other_ways(api, session, marks)
        until(lambda: client.session(session)["appliedSeq"] == client.session(session)["lastSeq"])
        searched.expect_none_of(marks)
        searched.expect_all_of(marks)


def _signal(family: list[psutil.Process], number: signal.Signals) -> None:
    for process in family:
        os.kill(process.pid, number)


def _send_in_other_ways(api: httpx.Client, session: str, marks: Marks) -> None:
    """Objects in commands, questions, traces and observations."""
    created = pod("made", marks, "create")
    created["metadata"]["labels"] = {"kept": marks.show("a label of a created pod")}
    at = f"{_API}{session}/"
    api.post(f"{at}commands/", json={"op": "create", "object": created}).raise_for_status()
    changed = pod("made", marks, "update") | {
        "metadata": {**pod("made", marks, "update")["metadata"], "labels": created["metadata"]["labels"]}
    }
    api.post(f"{at}commands/", json={"op": "update", "object": changed})
    refused = pod("refused", marks, "a refused create")
    refused["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "many"
    assert api.post(f"{at}commands/", json={"op": "create", "object": refused}).status_code == 400
    for kind in ("Secret", "ConfigMap"):
        hidden = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}, "data": {"key": marks.hide(f"a command with a {kind}")}}
        assert api.post(f"{at}commands/", json={"op": "create", "object": hidden}).status_code == 400
    api.post(f"{at}what-if/", json={"pod": pod("perhaps", marks, "what-if"), "copies": 2}).raise_for_status()
    steps = [{"op": "create", "object": pod("traced", marks, "trace")}, {"op": "cycle"}]
    trace = api.post(_API, json={"trace": {"format": "schedviz-trace/1", "name": "t", "steps": steps}}).raise_for_status().json()["id"]
    until(lambda: api.get(f"{_API}{trace}/").json()["status"] != "importing")
    observed = api.post(_API, json={"trace": {"format": "schedviz-trace/1", "steps": []}}).raise_for_status().json()["id"]
    until(lambda: api.get(f"{_API}{observed}/").json()["status"] == "ready")
    events = [{"type": "ADDED", "object": pod("seen", marks, "observation"), "version": "1"}]
    api.post(f"{_API}{observed}/observations/", json={"source": "kind", "n": 1, "events": events}).raise_for_status()
    until(lambda: api.get(f"{_API}{observed}/").json()["event"] > 0)
    export = api.get(f"{at}export/").raise_for_status().content
    again = api.post(_API, files={"file": ("a.schedviz", export)}).raise_for_status().json()["id"]
    until(lambda: api.get(f"{_API}{again}/").json()["status"] != "importing")
    api.post(f"{at}branches/", json={"name": marks.show("the name of a fork")}).raise_for_status()
