"""`schedviz check`: exit codes, output for people and for scripts, and the services that it connects to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder

from schedviz.cli.check import services_check
from schedviz.cli.check.command import check
from schedviz.sessions.redis import stream
from tests.conftest import RedisServer
from tests.postgres import PostgresServer

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(check, arguments, standalone_mode=False)
    assert result.exception is None, result.exception
    return result.return_value, result.output


def test_no_problem_is_found_if_workers_serve_each_queue(redis: RedisServer) -> None:
    for queue in ("engine", "io"):
        stream.client().set(f"schedviz:worker:{queue}@test", json.dumps([queue]), ex=5)

    assert run() == (0, "No problems found.\n")


def test_missing_workers_are_an_error_unless_the_check_is_skipped(redis: RedisServer) -> None:
    code, output = run("-o", "json")

    assert code == 1
    assert [one["setting"] for one in json.loads(output)] == ["the workers", "the workers"]
    assert run("--no-workers")[0] == 0


def test_an_unreachable_redis_and_an_eviction_policy_are_named(redis: RedisServer) -> None:
    stream.client().config_set("maxmemory-policy", "allkeys-lru")
    try:
        code, output = run("--no-workers")
    finally:
        stream.client().config_set("maxmemory-policy", "noeviction")
    assert code == 1
    assert "allkeys-lru" in output

    redis.kill()
    try:
        code, output = run()
    finally:
        redis.start()
    assert code == 1
    assert "SCHEDVIZ_REDIS_URL cannot be reached" in output
    assert "Traceback" not in output


def test_a_redis_without_security_fixes_is_a_warning(redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(stream.client()), "info", lambda *_: {"redis_version": "6.2.14"})

    code, output = run("--no-workers")

    assert code == 0
    assert "Redis' version is 6.2.14, a series without security fixes" in output
    assert "Fix: install redis or valkey 7 or newer" in output


def test_a_valkey_is_checked_by_its_own_version(redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(stream.client()), "info", lambda *_: {"redis_version": "6.2.0", "valkey_version": "9.1.2"})

    assert run("--no-workers") == (0, "No problems found.\n")


def test_listed_users_without_an_account_are_named(redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "EXTENDER_USERS", ["ada", "bob"])
    get_user_model().objects.create_user("ada")

    code, output = run("--no-workers")

    assert code == 0
    assert "SCHEDVIZ_EXTENDER_USERS lists users without an account: bob." in " ".join(output.split())


def test_without_a_redis_setting_the_redis_of_up_is_checked(redis: RedisServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old = tmp_path / "redis-server"
    old.write_text("#!/bin/sh\necho 'Redis server v=6.2.14 sha=00000000:0 malloc=libc bits=64 build=0'\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("SCHEDVIZ_REDIS_URL", raising=False)

    code, output = run("--no-workers")

    assert code == 0
    assert f"{old} has version 6.2.14" in output


def test_a_redis_that_saves_to_disk_is_named(redis: RedisServer) -> None:
    stream.client().config_set("save", "3600 1")
    try:
        code, output = run("--no-workers", "--strict")
    finally:
        stream.client().config_set("save", "")

    assert code == 1
    assert "keys of uploads" in output


def test_an_unreachable_database_is_named(redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(services_check, "MigrationExecutor", away)

    code, output = run("--no-workers")

    assert code == 1
    assert "cannot be reached: connection refused" in output


def test_a_database_of_a_newer_version_is_named(redis: RedisServer) -> None:
    MigrationRecorder(connection).record_applied("scheduling", "9999_newer")

    code, output = run("--no-workers", "--strict")

    assert code == 1
    assert "was migrated by a newer version (scheduling.9999_newer)" in output


@pytest.mark.postgres
def test_a_database_that_cannot_store_every_character_is_named(redis: RedisServer, postgres_server: PostgresServer) -> None:
    with psycopg.connect(postgres_server.url, autocommit=True) as server:
        server.execute("CREATE DATABASE narrow ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")

    done = subprocess.run(
        [sys.executable, "-m", "schedviz.cli.main", "check", "--no-workers"],
        env={**os.environ, "SCHEDVIZ_DATABASE_URL": postgres_server.url.replace("/postgres?", "/narrow?")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 1
    assert "PostgreSQL's encoding is SQL_ASCII" in done.stdout


def test_deploy_checks_settings_and_strict_counts_warnings(redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)

    output = run("--deploy")[1]

    assert "OPENBLAS_NUM_THREADS is not 1" in output
    assert run("--deploy", "--strict")[0] == 1
