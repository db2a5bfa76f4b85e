"""SQL for the queries of every command and of every sweep. The ORM took 4 ms of each command's 8 ms to write them.

The statements work on SQLite and PostgreSQL. Other queries use the models, except where the ORM cannot express them (`history/reading.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final
from uuid import UUID

import msgspec
from django.db import connection
from django.utils import timezone

from schedviz.sessions.queries.database import POSTGRESQL_SECONDS, SQLITE_SECONDS, repeated_cursor
from schedviz.trace.tally import Counts, Levels, Tally


class Numbered(msgspec.Struct, frozen=True):
    """A session's row after commands got their numbers."""

    status: str
    message: str
    #: The number of the last command.
    seq: int
    applied_seq: int
    #: A live owner has the lease.
    is_owned: bool


class InboxHead(msgspec.Struct, frozen=True):
    """How far a session's inbox goes, and the edit number of its breakpoints."""

    last_seq: int
    interrupt_seq: int
    breakpoints_edit: int


class Ancestor(msgspec.Struct, frozen=True):
    """A session of the lineage, and the event and cycle after which it stores its own."""

    session_id: UUID
    fork_event: int
    fork_cycle: int


def select_ancestors(session_id: UUID) -> list[Ancestor]:
    """The session, its parent, and so on."""
    with repeated_cursor() as cursor:
        cursor.execute(
            "WITH RECURSIVE lineage (id, parent, fork_event, fork_cycle, depth) AS ("
            "SELECT id, forked_from_id, fork_event, fork_cycle, 0 FROM scheduling_session WHERE id = %s UNION ALL "
            "SELECT s.id, s.forked_from_id, s.fork_event, s.fork_cycle, lineage.depth + 1 "
            "FROM scheduling_session s JOIN lineage ON s.id = lineage.parent WHERE lineage.depth < 10000) "
            "SELECT id, fork_event, fork_cycle FROM lineage ORDER BY depth",
            [stored_id(session_id)],
        )
        return [
            Ancestor(ancestor_id if isinstance(ancestor_id, UUID) else UUID(ancestor_id), event, cycle)
            for ancestor_id, event, cycle in cursor.fetchall()
        ]


def number_commands(session_id: UUID, count: int, *, size: int, last_pause: int) -> Numbered | None:
    """Reserve the next numbers of a session for commands whose bodies have `size` bytes together. `last_pause`: the position from 1 of the
    last command that interrupts a run (0: none). None if the session does not exist.
    """
    interrupt = f", interrupt_seq = last_seq + {last_pause:d}" if last_pause else ""
    row = _row(
        f"UPDATE scheduling_session SET last_seq = last_seq + %s, command_bytes = command_bytes + %s{interrupt} WHERE id = %s "  # noqa: S608 -- made of numbers.  # nosec B608
        f"RETURNING status, message, last_seq, applied_seq, (lease_owner <> '' AND lease_until >= {_now()})",
        [count, size, stored_id(session_id)],
    )
    return None if row is None else Numbered(row[0], row[1], row[2], row[3], bool(row[4]))


def insert_commands(session_id: UUID, seq: int, commands: Sequence[tuple[str, bytes]]) -> None:
    """Store accepted commands (key and body), numbered from `seq`. Raises `IntegrityError` if a key was used before."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO scheduling_command (session_id, seq, key, body, quarantined) VALUES (%s, %s, %s, %s, %s)",
            [(stored_id(session_id), seq + index, key, body, False) for index, (key, body) in enumerate(commands)],
        )


def select_inbox_head(session_id: UUID, *, epoch: int) -> InboxHead | None:
    """None if the session has another epoch or was deleted."""
    row = _row(
        "SELECT last_seq, interrupt_seq, breakpoints_edit FROM scheduling_session WHERE id = %s AND epoch = %s",
        [stored_id(session_id), epoch],
    )
    return None if row is None else InboxHead(*row)


def has_unfinished_session(importing: str, alive: Sequence[str]) -> bool:
    """Whether any session has this first status, or has one of the others and commands that are not applied."""
    marks = ", ".join(["%s"] * len(alive))
    row = _row(
        "SELECT EXISTS (SELECT 1 FROM scheduling_session WHERE status = %s OR "  # noqa: S608 -- of constants.  # nosec B608
        f"(status IN ({marks}) AND applied_seq < last_seq))",
        [importing, *alive],
    )
    return bool(row[0])


def has_unfinished_experiment(statuses: Sequence[str]) -> bool:
    """Whether any experiment has one of these statuses or an added plan that is not checked."""
    marks = ", ".join(["%s"] * len(statuses))
    row = _row(
        f"SELECT EXISTS (SELECT 1 FROM scheduling_experiment WHERE status IN ({marks}) OR added_plan <> '')",  # noqa: S608 -- of constants.  # nosec B608
        [*statuses],
    )
    return bool(row[0])


#: Larger than every number of a command.
_MAX_SEQ: Final = 2**63 - 1


def select_commands(session_id: UUID, *, after_seq: int, limit: int, most_bytes: int) -> list[tuple[int, bytes, int | None, bool, str]]:
    """Number, body, stopped_event, quarantined and key of the commands after one, in order: until their bodies have `most_bytes`."""
    key = stored_id(session_id)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT seq, body, stopped_event, quarantined, key FROM scheduling_command "
            "WHERE session_id = %s AND seq > %s AND seq <= COALESCE((SELECT MIN(seq) FROM ("
            "SELECT seq, SUM(LENGTH(body)) OVER (ORDER BY seq) AS bytes FROM ("
            "SELECT seq, body FROM scheduling_command WHERE session_id = %s AND seq > %s ORDER BY seq LIMIT %s"
            ") AS next_commands) AS sums WHERE bytes >= %s), %s) ORDER BY seq LIMIT %s",
            [key, after_seq, key, after_seq, limit, most_bytes, _MAX_SEQ, limit],
        )
        return [(seq, bytes(body), stopped, bool(quarantined), key) for seq, body, stopped, quarantined, key in cursor.fetchall()]


def select_cycle_groups(session_id: UUID, *, after: int, until: int, limit: int, backwards: bool) -> list[bytes]:
    """The packed groups that contain a session's own cycles in a range, ascending or descending."""
    order = "DESC" if backwards else "ASC"
    with repeated_cursor() as cursor:
        cursor.execute(
            "SELECT data FROM scheduling_cyclegroup WHERE session_id = %s AND last_cycle > %s AND first_cycle <= %s "  # noqa: S608 -- one of two words.  # nosec B608
            f"ORDER BY last_cycle {order} LIMIT %s",
            [stored_id(session_id), after, until, limit],
        )
        return [bytes(data) for (data,) in cursor.fetchall()]


def move_session(
    session_id: UUID,
    *,
    epoch: int,
    applied_seq: int,
    chunk: int,
    lease_seconds: float,
    values: Sequence[Any],
    added_bytes: int,
    levels: Levels | None,
    object_count: int | None,
) -> InboxHead | None:
    """Advance a session from a position, if it is still there and has the epoch; None if fenced.

    `values` are the new applied_seq, chunk, cycle, event, clock_seconds, status and message. `added_bytes` is the size of the added
    history, `levels` the new numbers of nodes and pods, and `object_count` that of objects (None if unchanged).
    """
    counted = "" if levels is None else f"nodes = {int(levels.nodes)}, pods = {int(levels.pods)}, "
    counted += "" if object_count is None else f"object_count = {int(object_count)}, "
    row = _row(
        "UPDATE scheduling_session SET applied_seq = %s, chunk = %s, cycle = %s, event = %s, clock_seconds = %s, "  # noqa: S608  # nosec B608
        f"history_bytes = history_bytes + %s, {counted}"
        f"status = %s, message = %s, acquisitions = 1, trying_seq = 0, tries = 0, lease_until = {_now()} + %s, updated_at = %s "
        "WHERE id = %s AND epoch = %s AND applied_seq = %s AND chunk = %s RETURNING last_seq, interrupt_seq, breakpoints_edit",
        [*values[:5], added_bytes, *values[5:], lease_seconds, _python_now(), stored_id(session_id), epoch, applied_seq, chunk],
    )
    return None if row is None else InboxHead(*row)


def update_commands(session_id: UUID, rows: Iterable[tuple[int, bytes, int | None, bool]]) -> None:
    """Store the results of commands: number, the outcome's JSON, stopped_event, quarantined."""
    now = _python_now()
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE scheduling_command SET outcome = %s, applied_at = %s, stopped_event = %s, quarantined = %s "
            "WHERE session_id = %s AND seq = %s",
            [(outcome.decode(), now, stopped, quarantined, stored_id(session_id), seq) for seq, outcome, stopped, quarantined in rows],
        )


def insert_chunk(session_id: UUID, number: int, *, events: tuple[int, int], cycles: tuple[int, int], data: bytes) -> None:
    """Store a chunk; `events` and `cycles` are its first and last."""
    _execute(
        "INSERT INTO scheduling_chunk (session_id, number, first_event, last_event, first_cycle, last_cycle, data) "
        "VALUES (%s, %s, %s, %s, %s, %s, %s)",
        [stored_id(session_id), number, *events, *cycles, data],
    )


def insert_cycle_group(session_id: UUID, *, cycles: tuple[int, int], last_event: int, data: bytes) -> None:
    """Store cycle summaries; `cycles` are the first and the last of them."""
    _execute(
        "INSERT INTO scheduling_cyclegroup (session_id, first_cycle, last_cycle, last_event, data) VALUES (%s, %s, %s, %s, %s)",
        [stored_id(session_id), *cycles, last_event, data],
    )


#: The columns of a tally, in the order of the members with their names.
_LEVELS = ", ".join(Levels.__struct_fields__)
_COUNTS = ", ".join(Counts.__struct_fields__)


def select_levels(session_id: UUID, number: int) -> Levels | None:
    """The queue lengths and object counts at the end of a chunk; None if it has no tally."""
    row = _row(
        f"SELECT {_LEVELS} FROM scheduling_chunktally WHERE session_id = %s AND number = %s",  # noqa: S608 -- of constants.  # nosec B608
        [stored_id(session_id), number],
    )
    return None if row is None else Levels(*row)


def insert_tally(session_id: UUID, number: int, *, events: tuple[int, int], clock_seconds: float, tally: Tally) -> None:
    """Store a chunk's tally; a concurrent second insert has no effect."""
    values = [*events, clock_seconds, *msgspec.structs.astuple(tally.counts), *msgspec.structs.astuple(tally.levels)]
    marks = ", ".join(["%s"] * (2 + len(values)))
    _execute(
        "INSERT INTO scheduling_chunktally (session_id, number, first_event, last_event, clock_seconds, "  # noqa: S608  # nosec B608
        f"{_COUNTS}, {_LEVELS}) VALUES ({marks}) ON CONFLICT DO NOTHING",
        [stored_id(session_id), number, *values],
    )


def insert_chunk_names(session_id: UUID, number: int, names: bytes) -> None:
    """Store the object index of a chunk."""
    _execute("INSERT INTO scheduling_chunknames (session_id, number, names) VALUES (%s, %s, %s)", [stored_id(session_id), number, names])


class ShadowedRow(msgspec.Struct, frozen=True):
    """The results of a slice's dry runs for a pod: of its arrival, its binding or both. None and "" mean not in this slice. Texts are
    JSON.
    """

    pod: str
    uid: str
    arrived_event: int | None = None
    arrival: str | None = None
    bound_event: int | None = None
    node: str = ""
    verdict: str = ""
    judgement: str | None = None
    profile: str = ""
    cause: str = ""
    plugin: str = ""
    place: str = ""


def store_shadowed(session_id: UUID, pods: Sequence[ShadowedRow]) -> None:
    """Store results, and merge them with those of earlier slices about the same pods."""
    new = "excluded"
    table = "scheduling_shadowedpod"
    sets = [f"{name} = coalesce({new}.{name}, {table}.{name})" for name in ("arrived_event", "arrival", "bound_event", "judgement")]
    sets += [f"{name} = CASE WHEN {new}.{name} = '' THEN {table}.{name} ELSE {new}.{name} END" for name in ("node", "place")]
    judged = ("verdict", "profile", "cause", "plugin", "judged_at")
    sets += [f"{name} = CASE WHEN {new}.verdict = '' THEN {table}.{name} ELSE {new}.{name} END" for name in judged]
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO scheduling_shadowedpod "  # noqa: S608 -- of constants.  # nosec B608
            "(session_id, pod, uid, arrived_event, arrival, bound_event, node, verdict, judgement, profile, cause, plugin, place, "
            "judged_at) "
            "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, CASE WHEN %s THEN CURRENT_TIMESTAMP END) "
            f"ON CONFLICT (session_id, pod, uid) DO UPDATE SET {', '.join(sets)}",
            [(stored_id(session_id), *msgspec.structs.astuple(pod), bool(pod.verdict)) for pod in pods],
        )


def add_to_agreement(session_id: UUID, *, agrees: int, not_best: int, infeasible: int, undecided: int, unjudged: int) -> int:
    """Add bindings to the counts per verdict; returns the total number of judged bindings."""
    columns = ("agrees", "not_best", "infeasible", "undecided", "unjudged")
    row = _row(
        f"INSERT INTO scheduling_agreement (session_id, {', '.join(columns)}) VALUES (%s, %s, %s, %s, %s, %s) "  # noqa: S608 -- of constants.  # nosec B608
        "ON CONFLICT (session_id) DO UPDATE SET "
        + ", ".join(f"{name} = scheduling_agreement.{name} + excluded.{name}" for name in columns)
        + " RETURNING "
        + " + ".join(f"scheduling_agreement.{name}" for name in columns),
        [stored_id(session_id), agrees, not_best, infeasible, undecided, unjudged],
    )
    return int(row[0])


def _row(statement: str, parameters: list[Any]) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchone()


def _execute(statement: str, parameters: list[Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)


def stored_id(session_id: UUID) -> Any:
    """The form in which the database stores an ID."""
    return session_id if connection.features.has_native_uuid_field else session_id.hex


def _now() -> str:
    return POSTGRESQL_SECONDS if connection.vendor == "postgresql" else SQLITE_SECONDS


def _python_now() -> Any:
    return connection.ops.adapt_datetimefield_value(timezone.now())
