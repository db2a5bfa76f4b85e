"""Restores a backup: creates the tables of its version, fills them, and runs the later migrations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import redis
from django.apps.registry import Apps
from django.core.exceptions import ValidationError
from django.core.management.color import no_style
from django.db import DataError, IntegrityError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.models import DateTimeField, Model

from schedviz.sessions.models import Session
from schedviz.sessions.redis import heartbeat, stream
from schedviz.web.backup import tables
from schedviz.web.backup.records import FORMAT, BackupError, End, Header, Rows, Summary, records
from schedviz.web.backup.single_migrations import Key, SingleMigrationExecutor

#: The maximum number of workers in an error message.
_MAX_NAMED: Final = 5


def restore(path: Path, *, replace: bool = False) -> Summary:
    """Fill the database from a file, completely or not at all. Raises `BackupError`.

    The database must be empty. With `replace` its content is deleted first, and its tables must be those of the backup.
    """
    with path.open("rb") as file:
        rows = records(file)
        header = _header(rows)
        _require_no_worker()
        executor = SingleMigrationExecutor()
        migrations = executor.loader.single(header.migrations)
        _require_known_migrations(header, migrations, executor)
        if replace:
            _require_same_tables(migrations, executor)
        else:
            _require_empty(migrations, executor)
            executor.migrate(_ends_of(migrations, executor))
        apps = SingleMigrationExecutor().loader.project_state(sorted(migrations)).apps
        with transaction.atomic():
            if replace:
                _delete_all_rows(apps)
            counted = _fill(apps, rows)
            _reset_sequences(apps)
    latest = MigrationExecutor(connection)
    latest.migrate(latest.loader.graph.leaf_nodes())
    _clear_redis_keys()
    return Summary(tables=len(counted), rows=sum(counted.values()), sessions=counted[Session._meta.label], bytes=path.stat().st_size)


def _header(rows: Iterator[Header | Rows | End]) -> Header:
    header = next(rows, None)
    if not isinstance(header, Header):
        raise BackupError("This file is not a schedviz backup: it does not begin with a header.")
    if header.format != FORMAT:
        raise BackupError(f"This backup has format {header.format}; this version reads {FORMAT}.")
    return header


def _require_no_worker() -> None:
    """Refuse while workers run: they would overwrite the restored sessions with their own positions."""
    try:
        workers = sorted(heartbeat.alive())
    except redis.RedisError:
        # Redis is down with the server, or this installation has none.
        return
    if workers:
        names = ", ".join(workers[:_MAX_NAMED]) + (" …" if len(workers) > _MAX_NAMED else "")
        raise BackupError(
            f"Nothing was restored, because workers are running: {names}. "
            "Stop web servers, workers and sweeper, wait 10 s, then restore the backup."
        )


def _require_known_migrations(header: Header, migrations: set[Key], executor: SingleMigrationExecutor) -> None:
    unknown = [f"{app}.{name}" for app, name in sorted(migrations) if (app, name) not in executor.loader.graph.nodes]
    if unknown:
        raise BackupError(
            f"This backup was written by schedviz {header.version}, a newer version: migration {unknown[0]} is unknown here. "
            "Upgrade schedviz first."
        )


def _require_same_tables(migrations: set[Key], executor: SingleMigrationExecutor) -> None:
    if executor.loader.applied != migrations:
        raise BackupError("The tables do not match those of the backup, which another version wrote. Restore it into an empty database.")


def _require_empty(migrations: set[Key], executor: SingleMigrationExecutor) -> None:
    applied = executor.loader.applied
    if not applied:
        return
    for model in tables.models_of_backup(executor.loader.project_state(sorted(applied)).apps):
        if model._default_manager.exists():
            raise BackupError(f"The database is not empty: {model._meta.db_table} has rows. Use an empty database or pass --replace.")
    if applied != migrations:
        raise BackupError(
            "The tables do not match those of the backup, which another version wrote. Restore it into a database without tables."
        )


def _ends_of(migrations: set[Key], executor: SingleMigrationExecutor) -> list[Key]:
    """The last migrations of the backup, on which no other of its migrations depends."""
    graph = executor.loader.graph
    return [
        key for key in migrations if not any(child.key in migrations and child.key[0] == key[0] for child in graph.node_map[key].children)
    ]


def _delete_all_rows(apps: Apps) -> None:
    for model in reversed(tables.models_of_backup(apps)):
        with connection.cursor() as cursor:
            cursor.execute(f"DELETE FROM {connection.ops.quote_name(model._meta.db_table)}")  # noqa: S608  # nosec B608 -- a table's name.


def _fill(apps: Apps, rows: Iterator[Header | Rows | End]) -> Counter[str]:
    models = {model._meta.label: model for model in tables.models_of_backup(apps)}
    for field in (field for model in models.values() for field in tables.fields_of(model) if isinstance(field, DateTimeField)):
        # These models are created for the restore only, so that timestamps keep their values.
        field.auto_now = field.auto_now_add = False
    counted: Counter[str] = Counter(dict.fromkeys(models, 0))
    for record in rows:
        match record:
            case Rows():
                model = models.get(record.model)
                if model is None:
                    raise BackupError(f"The backup has rows of {record.model}, which this version does not store. Nothing was restored.")
                _insert(model, record)
                counted[record.model] += len(record.values)
            case End():
                if record.rows != {label: counted[label] for label in record.rows}:
                    raise BackupError("The backup does not have the number of rows that it declares. Nothing was restored.")
                return counted
            case Header():
                raise BackupError("The backup has two headers. Nothing was restored.")
    raise BackupError("The backup is truncated: it was not written or copied completely. Nothing was restored.")


def _insert(model: type[Model], rows: Rows) -> None:
    try:
        model._default_manager.bulk_create([model(**dict(zip(rows.fields, values, strict=True))) for values in rows.values])
    except (TypeError, ValueError, OverflowError, ValidationError, IntegrityError, DataError) as error:
        raise BackupError(f"The backup's rows of {rows.model} cannot be stored: {error}. Nothing was restored.") from error


def _reset_sequences(apps: Apps) -> None:
    statements = connection.ops.sequence_reset_sql(no_style(), tables.models_of_backup(apps))
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def _clear_redis_keys() -> None:
    """Delete the Redis streams, whose entries after the backup would hide new ones. The sweeper notifies workers of waiting sessions."""
    try:
        keys = list(stream.client().scan_iter(match="schedviz:*", count=1000))
        if keys:
            stream.client().delete(*keys)
    except redis.RedisError:
        # Redis is down with the server, or this installation has none, so there are no keys.
        return
