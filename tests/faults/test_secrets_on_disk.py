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


class Markers:
    """Unique markers, and where each was sent."""

    def __init__(self) -> None:
        #: Markers that must be in no file.
        self.secret: dict[bytes, str] = {}
        #: Markers that must be found, which shows that the search works.
        self.stored: dict[bytes, str] = {}

    def hide(self, where: str) -> str:
        """A marker that must not be stored."""
        marker = f"marker{secrets.token_hex(12)}"
        self.secret[marker.encode()] = where
        self.secret[base64.b64encode(marker.encode()).rstrip(b"=")[:-1]] = f"{where}, base64"
        return marker

    def show(self, where: str) -> str:
        """A marker that is stored."""
        marker = f"kept{secrets.token_hex(12)}"
        self.stored[marker.encode()] = where
        return marker


def pod(name: str, markers: Markers, way: str, *, padding: int = 0) -> dict[str, Any]:
    """A pod with markers in all fields that the scheduler does not read. Incompressible padding keeps the markers in one piece."""
    applied = json.dumps({"env": markers.hide(f"{way}: last-applied-configuration"), "padding": secrets.token_urlsafe(padding)})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": applied, "note": markers.hide(f"{way}: annotation")},
        },
        "spec": {
            "containers": [
                {
                    "name": "main",
                    "image": "registry.example/app:1",
                    "command": ["run", markers.hide(f"{way}: command")],
                    "args": [f"--password={markers.hide(f'{way}: args')}"],
                    "env": [{"name": "PASSWORD", "value": markers.hide(f"{way}: env")}],
                    "resources": {"requests": {"cpu": "10m"}},
                }
            ]
        },
    }


def items(markers: Markers, way: str, *, padding: int = 3000) -> dict[str, Any]:
    """A dump with Secrets in it."""
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "node-1"},
        "status": {"allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"}},
    }
    hidden = base64.b64encode(markers.hide(f"{way}: Secret data").encode()).decode()
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"password": hidden}}
    plain = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "t"}, "stringData": {"token": markers.hide(f"{way}: stringData")}}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"key": markers.hide(f"{way}: ConfigMap data")}}
    return {"apiVersion": "v1", "kind": "List", "items": [node, secret, plain, config, pod("pod-1", markers, way, padding=padding)]}


def configuration(markers: Markers, way: str) -> dict[str, Any]:
    """A scheduler configuration with an extender that has credentials."""
    key = base64.b64encode(markers.hide(f"{way}: private key").encode()).decode()
    extender = {
        "urlPrefix": f"https://user:{markers.hide(f'{way}: password of an extender')}@extender.example/",
        "filterVerb": "filter",
        "enableHTTPS": True,
        "tlsConfig": {"certData": base64.b64encode(b"certificate").decode(), "keyData": key},
    }
    return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "extenders": [extender]}


def stored_zip(name: str, data: bytes) -> bytes:
    """A zip file without compression, so that a search finds its contents."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(name, data)
    return buffer.getvalue()


def files(markers: Markers) -> dict[str, bytes]:
    """Name -> content: files of every kind that is imported, and two that fail."""
    as_json = {way: json.dumps(items(markers, way)).encode() for way in ("json", "gz", "zip", "cut", "bad")}
    large = items(markers, "large", padding=4 << 20)
    return {
        "a.json": as_json["json"],
        "a.yaml": yaml.safe_dump(items(markers, "yaml")).encode(),
        "a.json.gz": gzip.compress(as_json["gz"], 0),
        "a.zip": stored_zip("a.json", as_json["zip"]),
        # Larger than the in-memory buffer of uploads.
        "large.json": json.dumps(large).encode(),
        "large.zip": stored_zip("a.json", json.dumps(items(markers, "large zip", padding=12 << 20)).encode()),
        "cut.json": as_json["cut"][:-2],
        "bad.json": as_json["bad"].replace(b'"10m"', b'"ten"'),
    }


def everything_of(folders: Iterable[Path]) -> Iterable[tuple[Path, bytes]]:
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                yield path, path.read_bytes()


class Searched:
    """The files of an installation, searched for markers."""

    def __init__(self, installation: Installation, folders: list[Path]) -> None:
        self.installation = installation
        self.folders = folders

    def assert_none_of(self, markers: Markers) -> None:
        """Check that no file has any of the markers."""
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("CHECKPOINT")
        results = set()
        for path, content in everything_of(self.folders):
            results |= {f"{where} in {path}" for marker, where in markers.secret.items() if marker in content}
        assert not results

    def assert_all_of(self, markers: Markers) -> None:
        """Check that the search finds all of the markers."""
        contents = [content for _, content in everything_of(self.folders)]
        missing = {where for marker, where in markers.stored.items() if not any(marker in content for content in contents)}
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
    searched, markers = Searched(installation, folders), Markers()
    client = installation.client
    address = f"http://127.0.0.1:{client.port}"
    with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {client.token}"}, timeout=60) as api:

        def upload(name: str, content: bytes) -> str:
            made = api.post(_API, files={"file": (name, content)}).raise_for_status()
            return str(made.json()["id"])

        def ended(session_id: str) -> str:
            return until(lambda: (status := client.session(session_id)["status"]) != "importing" and status)

        # Until its import starts, the upload is on disk.
        worker = installation.process("io")
        assert worker is not None
        family = [worker, *worker.children(recursive=True)]
        _signal(family, signal.SIGSTOP)
        waiting = {upload(name, content): name for name, content in files(markers).items()}
        cancelled = upload("cancelled.json", json.dumps(items(markers, "cancelled")).encode())
        deleted = upload("deleted.json", json.dumps(items(markers, "deleted")).encode())
        api.post(f"{_API}{cancelled}/cancel/").raise_for_status()
        api.delete(f"{_API}{deleted}/").raise_for_status()
        searched.assert_none_of(markers)
        _signal(family, signal.SIGCONT)

        outcomes = {name: ended(session_id) for session_id, name in waiting.items()}
        # Damaged files are imported as far as they can be read.
        assert set(outcomes.values()) == {"ready"}
        ended(cancelled)
        searched.assert_none_of(markers)

        session = next(session_id for session_id, name in waiting.items() if name == "a.json")
        _send_in_other_ways(api, session, markers)
        until(lambda: client.session(session)["appliedSeq"] == client.session(session)["lastSeq"])
        searched.assert_none_of(markers)
        searched.assert_all_of(markers)


def _signal(family: list[psutil.Process], number: signal.Signals) -> None:
    for process in family:
        os.kill(process.pid, number)


def _send_in_other_ways(api: httpx.Client, session: str, markers: Markers) -> None:
    """Send objects in commands, explanations, traces and observations."""
    created = pod("made", markers, "create")
    created["metadata"]["labels"] = {"kept": markers.show("a label of a created pod")}
    at = f"{_API}{session}/"
    api.post(f"{at}commands/", json={"op": "create", "object": created}).raise_for_status()
    changed = pod("made", markers, "update") | {
        "metadata": {**pod("made", markers, "update")["metadata"], "labels": created["metadata"]["labels"]}
    }
    api.post(f"{at}commands/", json={"op": "update", "object": changed})
    refused = pod("refused", markers, "a refused create")
    refused["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "many"
    assert api.post(f"{at}commands/", json={"op": "create", "object": refused}).status_code == 400
    for kind in ("Secret", "ConfigMap"):
        hidden = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}, "data": {"key": markers.hide(f"a command with a {kind}")}}
        assert api.post(f"{at}commands/", json={"op": "create", "object": hidden}).status_code == 400
    api.post(f"{at}what-if/", json={"pod": pod("perhaps", markers, "what-if"), "copies": 2}).raise_for_status()
    api.post(f"{at}commands/", json={"op": "configure", "config": configuration(markers, "configure")}).raise_for_status()
    steps = [
        {"op": "create", "object": pod("traced", markers, "trace")},
        {"op": "cycle"},
        {"op": "configure", "config": configuration(markers, "a step of a trace")},
    ]
    for new in (
        {"json": {"trace": {"format": "schedviz-trace/1", "config": configuration(markers, "trace"), "steps": steps}}},
        {"json": {"generate": {"nodes": 2}, "settings": {"config": configuration(markers, "settings")}}},
        {
            "files": [
                ("file", ("a.json", json.dumps(items(markers, "cluster with a configuration")))),
                ("file", ("config.json", json.dumps(configuration(markers, "file")))),
            ]
        },
    ):
        made = api.post(_API, **new).raise_for_status().json()["id"]
        session_now = until(lambda made=made: (now := api.get(f"{_API}{made}/").json())["status"] != "importing" and now)
        assert session_now["status"] in {"ready", "running"}, session_now["message"]
    observed = api.post(_API, json={"trace": {"format": "schedviz-trace/1", "steps": []}}).raise_for_status().json()["id"]
    until(lambda: api.get(f"{_API}{observed}/").json()["status"] == "ready")
    events = [{"type": "ADDED", "object": pod("seen", markers, "observation"), "version": "1"}]
    api.post(f"{_API}{observed}/observations/", json={"source": "kind", "n": 1, "events": events}).raise_for_status()
    until(lambda: api.get(f"{_API}{observed}/").json()["event"] > 0)
    export = api.get(f"{at}export/").raise_for_status().content
    again = api.post(_API, files={"file": ("a.schedviz", export)}).raise_for_status().json()["id"]
    until(lambda: api.get(f"{_API}{again}/").json()["status"] != "importing")
    api.post(f"{at}branches/", json={"name": markers.show("the name of a fork")}).raise_for_status()
