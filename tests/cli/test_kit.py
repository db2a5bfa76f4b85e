"""The offline kit: a folder that runs without a network."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import zipfile
from importlib.metadata import distribution, version
from pathlib import Path

import pytest

from schedviz.cli.kit import build, own_wheel, pins, repacked_wheels
from tests.conftest import missing

#: Brings up the loopback interface in an empty network namespace, starts the kit there, and uses it.
INSIDE = """
import fcntl, json, os, pathlib, re, signal, socket, struct, subprocess, sys, time, urllib.request
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14s", b"lo", 0x49, b""))
kit = pathlib.Path(sys.argv[1])
said = kit / "said.txt"
with said.open("wb") as out:
    started = subprocess.Popen([str(kit / "schedviz"), "up", "--no-open", "--port", "0"], stdout=out, stderr=out)
try:
    while "Ready after" not in said.read_text():
        assert started.poll() is None, said.read_text()
        time.sleep(0.1)
    url = re.search(r"starts on (http\\S+),", said.read_text())[1]
    token = (kit / "data/token").read_text().strip()
    def ask(path, body=None):
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Prefer": "wait=30"}
        data = None if body is None else json.dumps(body).encode()
        return urllib.request.urlopen(urllib.request.Request(f"{url}{path}", data, headers)).read()
    room = json.loads(ask("/api/v1/rooms/", {"lesson": "the-list"}))
    session = f"/api/v1/sessions/{room['session']}/"
    while json.loads(ask(session))["status"] == "importing":
        time.sleep(0.1)
    outcome = json.loads(ask(f"{session}commands/", {"op": "step"}))["outcome"]
    lessons = json.loads(ask("/api/v1/lessons/"))
    page = urllib.request.urlopen(f"{url}/r/").read().decode()
    script = re.search(r'src="(/static/app/assets/[^"]+[.]js)"', page)[1]
    print(json.dumps({
        "outcome": outcome,
        "script": len(urllib.request.urlopen(url + script).read()),
        "own": [one["name"] for part in lessons["parts"] for one in part["lessons"] if one["name"] == "of-my-own"],
    }))
finally:
    started.send_signal(signal.SIGTERM)
    started.wait(60)
"""


def test_pins_are_the_installed_versions_of_all_dependencies():
    taken = pins.pins_of(distribution("celery").requires or [])

    assert f"kombu=={version('kombu')}" in taken
    # Their dependencies, without extras that were not requested.
    assert f"amqp=={version('amqp')}" in taken
    assert not any(one.startswith("celery==") for one in taken)
    assert pins.pins_of(["celery; python_version < '3'", "packaging; extra == 'no-such-extra'"]) == []


def test_an_installed_package_is_repacked_into_an_installable_wheel(tmp_path):
    """Any installed package, pure Python or built for this platform, is repacked into a wheel that pip installs."""
    made = [repacked_wheels.pack(distribution(name), tmp_path) for name in ("click", "msgspec")]

    target = tmp_path / "lib"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(target), *map(str, made)]
    subprocess.run(command, check=True)

    assert {path.name for path in target.iterdir()} >= {"click", "msgspec"}
    for wheel in map(zipfile.ZipFile, made):
        with wheel:
            assert not any("INSTALLER" in name or ".." in name for name in wheel.namelist())
    assert own_wheel.requirements(made[0]) == (distribution("click").requires or [])


def test_packages_without_installed_files_are_downloaded():
    assert repacked_wheels.packable("click") is not None
    assert repacked_wheels.packable("no-such-package") is None
    editable = '"editable": true' in (distribution("schedviz").read_text("direct_url.json") or "")
    assert (repacked_wheels.packable("schedviz") is None) == editable


def test_a_folder_that_is_not_empty_is_not_overwritten(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")

    with pytest.raises(build.CannotMake, match="is not empty"):
        build.make(tmp_path, [], report=print)

    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_kit_that_does_not_fit_on_the_disk_leaves_no_files(tmp_path, monkeypatch):
    def full(wheels: Path) -> Path:
        (wheels / "half.whl").write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(build.own_wheel, "write", full)
    with pytest.raises(build.CannotMake, match=r"kit: No space left on device\."):
        build.make(tmp_path / "kit", [], report=print)

    assert not (tmp_path / "kit").exists()


def test_another_version_of_python_is_refused_with_a_message(tmp_path):
    build._write_script(tmp_path)
    script = tmp_path / "schedviz"
    version_here = f"{sys.version_info.major}.{sys.version_info.minor}"
    script.write_text(script.read_text().replace(version_here, "2.4"))

    done = subprocess.run([str(script)], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "this kit is for Python 2.4" in done.stderr
    assert version_here in (tmp_path / "README.txt").read_text()


def test_the_kit_runs_without_a_network(tmp_path):
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode != 0:
        missing("unshare with user namespaces", "Allow them: sysctl kernel.unprivileged_userns_clone=1.")
    subprocess.run([sys.executable, "-m", "schedviz.cli.main", "lesson", "new", str(tmp_path / "mine" / "of-my-own")], check=True)
    kit = tmp_path / "kit"
    printed: list[str] = []
    build.make(kit, [tmp_path / "mine"], report=printed.append)
    assert not [line for line in printed if line.startswith("Fetching")], "installed packages are included without a package index"

    environment = {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "HOME": str(tmp_path),
        "PYTHON": sys.executable,
    }
    done = subprocess.run(
        ["unshare", "-rn", sys.executable, "-c", INSIDE, str(kit)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )

    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["outcome"]["result"]
    assert document["script"] > 1000
    assert document["own"] == ["of-my-own"]
