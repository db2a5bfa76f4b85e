"""Checks that database, Redis and workers are reachable and configured as schedviz needs them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import redis
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.executor import MigrationExecutor

from schedviz.celery import WORKER_COMMANDS
from schedviz.cli.check.finding import Finding, error, warning
from schedviz.sessions.queries.database import migrations_of_newer_version
from schedviz.sessions.redis import heartbeat, stream
from schedviz.up import redis_server
from schedviz.up.errors import CannotStart
from schedviz.web.health import QUEUES

#: What PostgreSQL should allow; its default is 100. Every thread of a worker can open a connection.
_MIN_CONNECTIONS = 150
#: They evict only keys with an expiry, such as recent frames, or none, and keep the task queue.
_SUITABLE_POLICIES = ("noeviction", "volatile-ttl", "volatile-lru", "volatile-lfu", "volatile-random")


def findings_of(*, workers: bool) -> list[Finding]:
    """Components that are unreachable or misconfigured. `workers`: workers must be running."""
    findings = [*_database(), *(in_redis := list(_redis()))]
    if workers and not any(finding.level == "error" for finding in in_redis):
        findings += _workers()
    return findings


def _database() -> Iterator[Finding]:
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
        newer = migrations_of_newer_version(executor.loader)
        if connection.vendor == "postgresql":
            yield from _postgresql()
    except (DatabaseError, InterfaceError) as failed:
        yield error(
            "SCHEDVIZ_DATABASE_URL", f"cannot be reached: {' '.join(str(failed).split())[:200]}", "start it, or correct the address"
        )
        return
    if missing:
        yield error("the database", f"lacks {len(missing)} migrations", "run `django-admin migrate` once, before the servers start")
        return
    if newer:
        yield warning(
            "the database", f"was migrated by a newer version ({', '.join(newer[:3])})", "upgrade this installation, or restore a backup"
        )
    yield from _listed_users()


def _listed_users() -> Iterator[Finding]:
    """Whoever creates an account with a listed name gets its right."""
    listed = set(settings.EXTENDER_USERS)
    missing = sorted(listed - set(get_user_model().objects.filter(username__in=listed).values_list("username", flat=True)))
    if missing:
        yield warning(
            "SCHEDVIZ_EXTENDER_USERS",
            f"lists users without an account: {', '.join(missing)}. A new account with such a name may call extenders",
            "create the accounts, or remove the names",
        )


def _postgresql() -> Iterator[Finding]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('max_connections')::int, current_setting('server_encoding')")
        allowed, encoding = cursor.fetchone()
    if allowed < _MIN_CONNECTIONS:
        yield warning(
            "PostgreSQL's max_connections",
            f"is {allowed}; an engine worker with 64 slots can open 64 connections, a web server 40",
            f"set it to {_MIN_CONNECTIONS} or more, or use a connection pooler",
        )
    if encoding != "UTF8":
        yield error(
            "PostgreSQL's encoding",
            f"is {encoding}: names and notes with letters outside it fail with status 500",
            "back up, create the database with ENCODING 'UTF8' TEMPLATE template0, and restore",
        )


def _redis() -> Iterator[Finding]:
    if "SCHEDVIZ_REDIS_URL" not in os.environ:
        yield from _redis_of_up()
    try:
        stream.client().ping()
    except (redis.RedisError, OSError) as failed:
        remedy = "start it, or correct the address, user or password"
        if "SCHEDVIZ_REDIS_URL" not in os.environ:
            remedy = "set it to the address of Redis (only `schedviz up` uses its own: query GET /healthz there)"
        yield error("SCHEDVIZ_REDIS_URL", f"cannot be reached: {str(failed)[:200].rstrip('.')}", remedy)
        return
    yield from _old_redis()
    try:
        configured = {name: stream.client().config_get(name).get(name) for name in ("maxmemory-policy", "save", "appendonly")}
    except redis.RedisError:
        # The Redis user may not read the configuration, which is fine.
        return
    if (policy := configured["maxmemory-policy"]) not in _SUITABLE_POLICIES:
        yield error("Redis' maxmemory-policy", f"is {policy}: a full Redis would discard waiting tasks", "set it to volatile-lru")
    if configured["save"] or configured["appendonly"] != "no":
        yield warning(
            "Redis' save and appendonly",
            "let it write to its disk, where the keys of uploads must never be (SECURITY.md)",
            'set save "" and appendonly no, and delete the files that it has written',
        )


def _old_redis() -> Iterator[Finding]:
    try:
        info = stream.client().info("server")
    except redis.RedisError:
        # The Redis user may not ask.
        return
    # Valkey also reports the version of Redis that it is compatible with.
    version = str(info.get("valkey_version") or info.get("redis_version", ""))
    if redis_server.is_unmaintained(version):
        yield warning("Redis' version", f"is {version}, a series without security fixes", redis_server.WHAT_TO_INSTALL)


def _redis_of_up() -> Iterator[Finding]:
    """A finding about the Redis that `schedviz up` would start on this machine, if there is one."""
    try:
        problem = redis_server.choose(Path()).warning
    except CannotStart as missing:
        problem = str(missing)
    if problem:
        message, _, remedy = problem.partition(" Install ")
        yield warning("the Redis of `schedviz up`", f"would be unsuitable. {message.rstrip('.')}", f"install {remedy.rstrip('.')}")


def _workers() -> Iterator[Finding]:
    served = {queue for queues in heartbeat.alive().values() for queue in queues}
    for queue in QUEUES:
        if queue not in served:
            yield error(
                "the workers",
                f"do not serve the queue {queue}: commands are accepted but not applied",
                f"start one: {WORKER_COMMANDS[queue]}",
            )
