"""Writes a backup from a consistent snapshot of the database, while it is in use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Model

from schedviz import __version__
from schedviz.sessions.models import Session
from schedviz.sessions.queries.keyset import read_in_batches
from schedviz.web.backup import tables
from schedviz.web.backup.records import FORMAT, BackupError, End, Header, Rows, Summary, Writer

#: The maximum number of rows, and of bytes, of a record.
_MAX_RECORD_ROWS = 500
_MAX_RECORD_BYTES = 8 << 20


def write(path: Path) -> Summary:
    """Write a backup that only its owner can read. An existing file is replaced once the new one is complete.

    Raises `BackupError` if migrations are missing, and the errors of the database and the disk.
    """
    fresh = path.with_name(f".{path.name}.new")
    fresh.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            writer = Writer(file)
            with _one_moment():
                counted = _write_all(writer)
            writer.close()
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        # A write does not say where.
        raise OSError(error.errno, error.strerror, error.filename or str(path)) from error
    finally:
        fresh.unlink(missing_ok=True)
    return Summary(tables=len(counted), rows=sum(counted.values()), sessions=counted[Session._meta.label], bytes=path.stat().st_size)


@contextmanager
def _one_moment() -> Iterator[None]:
    """A transaction that does not see later commits: SQLite's WAL and PostgreSQL both keep the snapshot of a reader."""
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def _write_all(writer: Writer) -> dict[str, int]:
    applied = sorted(MigrationRecorder(connection).applied_migrations())
    if not applied:
        raise BackupError("The database has no tables, so there is nothing to back up.")
    header = Header(
        format=FORMAT, version=__version__, written_at=datetime.now(UTC).isoformat(), database=connection.vendor, migrations=list(applied)
    )
    writer.write(header)
    counted: dict[str, int] = {}
    for model in tables.models_of_backup(apps):
        counted[model._meta.label] = 0
        for rows in _rows(model):
            counted[model._meta.label] += len(rows.values)
            writer.write(rows)
    writer.write(End(rows=counted))
    return counted


def _rows(model: type[Model]) -> Iterator[Rows]:
    names = [field.attname for field in tables.fields_of(model)]
    some: list[list[Any]] = []
    size = 0
    for _, *row in read_in_batches(model._default_manager.all(), "pk", *names, batch_size=_MAX_RECORD_ROWS):
        values = [bytes(value) if isinstance(value, memoryview) else value for value in row]
        some.append(values)
        size += sum(len(value) for value in values if isinstance(value, bytes | str))
        if len(some) >= _MAX_RECORD_ROWS or size >= _MAX_RECORD_BYTES:
            yield Rows(model=model._meta.label, fields=names, values=some)
            some, size = [], 0
    if some:
        yield Rows(model=model._meta.label, fields=names, values=some)
