"""Whether database, Redis and workers answer, and are as schedviz needs them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import redis
from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.executor import MigrationExecutor

from schedviz.cli.check.finding import Finding, error, warning
from schedviz.sessions.redis import heartbeat, stream
from schedviz.up import redis_server
from schedviz.up.errors import CannotStart
from schedviz.web.health import QUEUES

#: SQLite gets the disk's; PostgreSQL's own default is 100, of which each worker's thread can take one.
_CONNECTIONS = 150
#: What may go when Redis is full: the tails of sessions, which have a lifetime; not the queue of turns, which has none.
_POLICIES = ("noeviction", "volatile-ttl", "volatile-lru", "volatile-lfu", "volatile-random")


def found(*, workers: bool) -> list[Finding]:
    """What does not answer or is not as it is to be. `workers`: they are to be up already."""
    findings = [*_database(), *(in_redis := list(_redis()))]
    if workers and not any(finding.level == "error" for finding in in_redis):
        findings += _workers()
    return findings


def _database() -> Iterator[Finding]:
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if connection.vendor == "postgresql":
            yield from _postgresql()
    except (DatabaseError, InterfaceError) as failed:
        yield error(
            "SCHEDVIZ_DATABASE_URL", f"the database does not answer: {' '.join(str(failed).split())[:200]}", "start it, or mend the address"
        )
        return
    if missing:
        yield error("the database", f"lacks {len(missing)} migrations", "run `django-admin migrate` once, before the servers start")


def _postgresql() -> Iterator[Finding]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('max_connections')::int, current_setting('server_encoding')")
        allowed, encoding = cursor.fetchone()
    if allowed < _CONNECTIONS:
        yield warning(
            "PostgreSQL's max_connections",
            f"is {allowed}; an engine worker with 64 slots can take 64, a web server 40",
            f"set it to {_CONNECTIONS} or more, or put a pooler in front",
        )
    if encoding != "UTF8":
        yield error(
            "PostgreSQL's encoding",
            f"is {encoding}: names and notes with letters that it lacks are answered with 500",
            "back up, make the database anew with ENCODING 'UTF8' TEMPLATE template0, and restore",
        )


def _redis() -> Iterator[Finding]:
    if "SCHEDVIZ_REDIS_URL" not in os.environ:
        yield from _redis_of_up()
    try:
        stream.client().ping()
    except (redis.RedisError, OSError) as failed:
        mend = "start it, or mend the address, user or password"
        if "SCHEDVIZ_REDIS_URL" not in os.environ:
            mend = "set it to where Redis is (the one of a `schedviz up` is that command's alone: ask GET /healthz there)"
        yield error("SCHEDVIZ_REDIS_URL", f"Redis does not answer: {str(failed)[:200].rstrip('.')}", mend)
        return
    yield from _old_redis()
    try:
        configured = {name: stream.client().config_get(name).get(name) for name in ("maxmemory-policy", "save", "appendonly")}
    except redis.RedisError:
        # Its user may not ask, which is as it should be.
        return
    if (policy := configured["maxmemory-policy"]) not in _POLICIES:
        yield error("Redis' maxmemory-policy", f"is {policy}: when it is full, turns that wait are thrown away", "set it to volatile-ttl")
    if configured["save"] or configured["appendonly"] != "no":
        yield warning(
            "Redis' save and appendonly",
            "make Redis write to its disk, where the keys of uploads must never be (SECURITY.md)",
            'set save "" and appendonly no, and delete the files that it has written',
        )


def _old_redis() -> Iterator[Finding]:
    try:
        told = stream.client().info("server")
    except redis.RedisError:
        # Its user may not ask.
        return
    # Valkey also gives the version of Redis that it is compatible with.
    version = str(told.get("valkey_version") or told.get("redis_version", ""))
    if redis_server.is_unmaintained(version):
        yield warning("Redis' version", f"is {version}, a series without security fixes", redis_server.WHAT_TO_INSTALL)


def _redis_of_up() -> Iterator[Finding]:
    """What `schedviz up` would start on this machine, where there is something to be said about it."""
    try:
        said = redis_server.choose(Path()).warning
    except CannotStart as missing:
        said = str(missing)
    if said:
        what, _, do = said.partition(" Install ")
        yield warning("the Redis of `schedviz up`", f"would not be a good one. {what.rstrip('.')}", f"install {do.rstrip('.')}")


def _workers() -> Iterator[Finding]:
    served = {queue for queues in heartbeat.alive().values() for queue in queues}
    for queue in QUEUES:
        if queue not in served:
            yield error(
                "the workers",
                f"none serves the queue {queue}: commands are accepted and wait",
                f"start one: celery -A schedviz.celery worker -Q {queue} …",
            )
