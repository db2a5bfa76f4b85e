"""SQL for the queries of every batch of observations. The ORM took two thirds of the time of accepting a batch to write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias
from uuid import UUID

import msgspec
from django.db import connection
from django.utils import timezone

from schedviz.sessions.queries.prepared import stored_id

#: The kind and the key of an object.
ObjectKey: TypeAlias = tuple[str, str]
_ROWS_PER_QUERY = 200


class LastState(msgspec.Struct, frozen=True):
    """The last observed state of an object (see `models.Observed`)."""

    uid: str
    version: str
    terminating: bool


def take_batch(session_id: UUID, source: str, n: int, *, digest: str, events: int, version: str, has_times: bool) -> bool:
    """Advance the observer to batch `n` with this many events; False if it is not the next one. `version` "" leaves what is known."""
    sets, values = "", list[Any]()
    if version:
        sets, values = ", version = %s", [version]
    if has_times:
        sets, values = f"{sets}, last_times = %s", [*values, n]
    pushed_at = connection.ops.adapt_datetimefield_value(timezone.now())
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE scheduling_observer SET n = %s, digest = %s, events = events + %s, pushed_at = %s{sets} "  # noqa: S608 -- of constants.  # nosec B608
            "WHERE session_id = %s AND source = %s AND n = %s",
            [n, digest, events, pushed_at, *values, stored_id(session_id), source, n - 1],
        )
        return bool(cursor.rowcount)


def set_last_seq(session_id: UUID, seq: int) -> None:
    """Store the number of the last command that was made from observations."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE scheduling_observer SET last_seq = %s WHERE session_id = %s", [seq, stored_id(session_id)])


def select_states(session_id: UUID, keys: Sequence[str]) -> dict[ObjectKey, LastState]:
    """The last observed states of the objects of all kinds with these keys."""
    states: dict[ObjectKey, LastState] = {}
    with connection.cursor() as cursor:
        for start in range(0, len(keys), _ROWS_PER_QUERY):
            some = keys[start : start + _ROWS_PER_QUERY]
            cursor.execute(
                "SELECT kind, key, uid, version, terminating FROM scheduling_observed WHERE session_id = %s "  # noqa: S608  # nosec B608
                f"AND key IN ({', '.join(['%s'] * len(some))})",
                [stored_id(session_id), *some],
            )
            for kind, key, uid, version, terminating in cursor.fetchall():
                states[kind, key] = LastState(uid, version, bool(terminating))
    return states


def store_states(session_id: UUID, states: Mapping[ObjectKey, LastState]) -> None:
    """Insert or replace last observed states."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO scheduling_observed (session_id, kind, key, uid, version, terminating) VALUES (%s, %s, %s, %s, %s, %s) "
            "ON CONFLICT (session_id, kind, key) DO UPDATE SET uid = excluded.uid, version = excluded.version, "
            "terminating = excluded.terminating",
            [(stored_id(session_id), kind, key, *msgspec.structs.astuple(state)) for (kind, key), state in states.items()],
        )


def delete_states(session_id: UUID, objects: Iterable[ObjectKey]) -> None:
    """Delete the last observed states of objects that are gone."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "DELETE FROM scheduling_observed WHERE session_id = %s AND kind = %s AND key = %s",
            [(stored_id(session_id), kind, key) for kind, key in objects],
        )


def insert_times(session_id: UUID, n: int, times: bytes) -> None:
    """Store the times of decisions in batch `n`, as JSON."""
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO scheduling_decisionbatch (session_id, n, times) VALUES (%s, %s, %s)", [stored_id(session_id), n, times])
