"""Shares the metrics of every process through Redis, so that any web server can export those of all hosts.

Each process writes its report under its own key every few seconds. Reports of ended processes expire after `_LIFETIME_SECONDS`.
Without Redis, a web server exports only its own metrics.
"""

from __future__ import annotations

import logging
import os
import threading
import zlib
from typing import Any

import msgspec
import redis
from prometheus_client.metrics_core import Metric

from schedviz.sessions.hosting.slots import STOPPING
from schedviz.sessions.metrics.process import ALL_ROLES, BY_ROLE, process_name
from schedviz.sessions.redis import stream

logger = logging.getLogger(__name__)

REPORT_SECONDS = 5.0
_LIFETIME_SECONDS = 20
_PREFIX = "schedviz:metrics:"


class Family(msgspec.Struct, frozen=True):
    """A metric and its samples: name, labels, value."""

    name: str
    help: str
    type: str
    samples: list[tuple[str, dict[str, str], float]]


class Report(msgspec.Struct, frozen=True):
    """The metrics of one process."""

    process: str
    role: str
    families: list[Family]


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Report)
_role_of_process: dict[int, str] = {}


def start_reporting(role: str) -> None:
    """Start a thread that reports until the process ends. Calling it again has no effect, except in a forked process."""
    if os.getpid() in _role_of_process:
        return
    _role_of_process[os.getpid()] = role
    threading.Thread(target=_report_periodically, args=(role,), name="metrics", daemon=True).start()


def own_report(role: str) -> Report:
    """The current metrics of this process."""
    families = [
        Family(
            metric.name, metric.documentation, metric.type, [(sample.name, dict(sample.labels), sample.value) for sample in metric.samples]
        )
        for registry in (ALL_ROLES, BY_ROLE.get(role))
        if registry is not None
        for metric in registry.collect()
    ]
    return Report(process=process_name(role), role=role, families=families)


def publish(report: Report) -> None:
    """Store a report in Redis. Raises `redis.RedisError`."""
    stream.client().set(f"{_PREFIX}{report.process}", zlib.compress(_encoder.encode(report), 1), ex=_LIFETIME_SECONDS)


def other_reports(own_process: str) -> list[Report]:
    """The recent reports of all processes except `own_process`, ordered by name. Raises `redis.RedisError`."""
    connection = stream.client()
    keys = sorted(key for key in connection.scan_iter(match=f"{_PREFIX}*", count=100) if key != f"{_PREFIX}{own_process}".encode())
    reports: list[Report] = []
    values: list[Any] = connection.mget(keys) if keys else []
    for value in values:
        if value is not None:
            try:
                reports.append(_decoder.decode(zlib.decompress(bytes(value))))
            except (msgspec.ValidationError, msgspec.DecodeError, zlib.error):
                # Of another version, in the minutes of an upgrade.
                logger.debug("skipping a metrics report of another version")
    return reports


def merge_reports(reports: list[Report]) -> list[Metric]:
    """One family for each name, each sample with the labels `process` and `role`."""
    families: dict[str, Metric] = {}
    for report in reports:
        for family in report.families:
            metric = families.get(family.name)
            if metric is None:
                metric = families[family.name] = Metric(family.name, family.help, family.type)
            for name, labels, value in family.samples:
                metric.add_sample(name, {"process": report.process, "role": report.role, **labels}, value)
    return list(families.values())


def _report_periodically(role: str) -> None:
    while not STOPPING.wait(REPORT_SECONDS):
        try:
            publish(own_report(role))
        except (redis.RedisError, OSError) as error:
            logger.debug("Redis is unavailable: %s", error)
