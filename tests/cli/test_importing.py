"""`schedviz import` previews the request, writes it to a file, and sends it."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from schedviz.cli.explain import explain
from schedviz.cli.importing import import_

SAMPLES = Path(__file__).parents[1] / "samples"
LIST = str(SAMPLES / "list.json")


def test_a_dry_run_lists_files_fields_and_origins() -> None:
    result = CliRunner().invoke(import_, [LIST, str(SAMPLES / "cluster-info-dump.txt"), "--dry-run"])
    assert result.exit_code == 0, result.output
    assert "kubectl cluster-info dump, 0 objects, 1 dump, 2 messages about pods" in result.output
    assert "3 Pod.spec.containers[].env" in result.output
    report = json.loads(CliRunner().invoke(import_, [LIST, "--dry-run", "-o", "json"]).output)
    assert report["origins"]["Pod shop/web-2"] == LIST
    assert report["leftOut"]["Pod.spec.containers[].env"] == 3
    assert report["bytes"] > 0


def test_anonymized_objects_have_pseudonyms_and_can_be_explained_like_any_dump(tmp_path: Path) -> None:
    written = tmp_path / "redacted.json"
    result = CliRunner().invoke(import_, [LIST, "--pseudonyms", "a secret", "--write", str(written)])
    assert result.exit_code == 0, result.output
    assert "names replaced: " in result.output
    assert "web-2" not in written.read_text()
    assert "is pending" in CliRunner().invoke(explain, ["-f", str(written)]).output
    assert CliRunner().invoke(import_, [LIST, "--dry-run", "--pseudonyms", ""]).exit_code == 2


@pytest.fixture
def received() -> Iterator[tuple[str, list[bytes]]]:
    """A server's address, and the requests that it received."""
    bodies: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(201)
            self.end_headers()
            self.wfile.write(b'{"id": "an-id"}')

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", bodies
    server.shutdown()
    thread.join()
    server.server_close()


def test_only_fields_that_the_scheduler_reads_are_sent(received: tuple[str, list[bytes]]) -> None:
    address, bodies = received
    result = CliRunner().invoke(import_, [LIST, "--server", address, "--name", "mine"])
    assert result.exit_code == 0, result.output
    assert result.stdout.strip() == "an-id"
    (body,) = bodies
    assert b'filename="objects.json"' in body
    assert b"web-2" in body
    assert b"hush" not in body


def test_skipped_parts_of_files_are_reported_on_standard_error(received: tuple[str, list[bytes]], tmp_path: Path) -> None:
    file = tmp_path / "mixed.json"
    foo = {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "f"}}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [foo, node]}))

    result = CliRunner().invoke(import_, [str(file), "--server", received[0], "--token", "t"])

    assert (result.exit_code, result.stdout) == (0, "an-id\n")
    assert "left out: 1 × Foo: " in result.stderr


def test_session_files_and_traces_are_sent_unchanged(received: tuple[str, list[bytes]], tmp_path: Path) -> None:
    address, bodies = received
    session = tmp_path / "mine.schedviz"
    session.write_bytes(gzip.compress(b'{"format":"schedviz-session/1"}\n'))

    for file in (session, SAMPLES / "trace.json"):
        sent = CliRunner().invoke(import_, [str(file), "--server", address, "--token", "t"])
        assert (sent.exit_code, sent.output) == (0, "an-id\n")
        assert file.read_bytes() in bodies[-1]
        refused = CliRunner().invoke(import_, [str(file), "--dry-run"])
        assert refused.exit_code == 1
        assert "which is sent unchanged" in refused.output

    result = CliRunner().invoke(explain, ["-f", str(session)])
    assert "this is a session file. Create a session from it with `schedviz import" in result.output


def test_files_without_a_version_are_sent_with_the_current_release(tmp_path: Path, received: tuple[str, list[bytes]]) -> None:
    address, bodies = received
    file = tmp_path / "pods.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop"}}))

    result = CliRunner().invoke(import_, [str(file), "--server", address, "--token", "t"])

    assert result.exit_code == 0, result.output
    assert b'name="release"\r\n\r\nv1.36\r\n' in bodies[0]
