"""Observations of a real cluster, pushed in numbered batches. Each batch becomes commands, so that the session follows the cluster.

A batch is accepted once and completely: its number, its commands and the last observed states are stored in one transaction. An observer
is the client that pushes (`schedviz follow`). If it gets no response it sends the same batch again; after it reconnects it asks for the
expected number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, TypeAlias
from uuid import UUID

import msgspec
from django.db import IntegrityError, transaction

from schedviz.explain.shadowing.decision_times import DecisionTime
from schedviz.kube import codec
from schedviz.kube.errors import DecodeError
from schedviz.kube.kinds import BY_TYPE
from schedviz.kube.object_names import is_possible
from schedviz.sessions.commands import inbox
from schedviz.sessions.commands.stored_form import refused_object
from schedviz.sessions.errors import CommandRefused, SessionError, SessionGone
from schedviz.sessions.keyed_digest import is_same, keyed
from schedviz.sessions.models import Observed, Observer, Session
from schedviz.sessions.observing import decision_times
from schedviz.sessions.queries import observed
from schedviz.sessions.queries.observed import LastState, ObjectKey
from schedviz.sessions.redis import wakeups
from schedviz.trace.commands import AnyCommand, Create, Delete, Update

#: The maximum number of events in one batch.
MAX_EVENTS = 500
#: A command's key ends with this if its order among the others is unknown.
UNORDERED_SUFFIX = "~"
#: Kind, namespace ("" for cluster-scoped objects) and name.
_Identity: TypeAlias = tuple[str, str, str]


class WrongBatch(SessionError):
    """A batch other than the `expected` one."""

    code = "wrong_batch"

    def __init__(self, expected: int, found: int) -> None:
        super().__init__(f"n: batch {expected} is the next one, found {found}.")
        self.expected = expected


class CannotFollow(SessionError):
    """The session cannot be followed by this observer."""

    code = "cannot_follow"


class Seen(msgspec.Struct, frozen=True):
    """An event of a watch: an object's present state, or its last state if it was deleted."""

    type: Literal["ADDED", "MODIFIED", "DELETED"]
    object: dict[str, Any]
    #: A string that changes with the object.
    version: Annotated[str, msgspec.Meta(max_length=64, pattern="^[!-~]*$")] = ""
    #: The change was found by a list, not by a watch, so its order among others is not known.
    listed: bool = False


class AcceptedBatch(msgspec.Struct, frozen=True):
    """An accepted batch. `duplicate`: it had been accepted before. `seq`: the last command made from this batch or an earlier one."""

    n: int
    seq: int
    duplicate: bool


def observer_of(session_id: UUID) -> Observer | None:
    """The observer of a session; None if the session does not follow a cluster."""
    return Observer.objects.filter(session_id=session_id).first()


def known_objects(session_id: UUID, *, after: int, limit: int) -> list[Observed]:
    """The last observed states, in the order of first observation, after the row with this number."""
    return list(Observed.objects.filter(session_id=session_id, pk__gt=after).order_by("pk")[:limit])


def accept_batch(
    session_id: UUID, source: str, n: int, events: Sequence[Seen], *, digest: str, version: str = "", times: Sequence[DecisionTime] = ()
) -> AcceptedBatch:
    """Accept a batch, completely or not at all; `digest` is the batch's. When this returns, the batch is durable.

    `version`: of the cluster's API server; "" leaves what is known. `times`: when the cluster's scheduler decided.

    Raises `WrongBatch`, `CannotFollow`, and what `inbox.accept` raises.
    """
    observer = observer_of(session_id)
    if n != (observer.n + 1 if observer is not None else 1):
        return _repeated_batch(session_id, source, n, digest)
    batch = _Batch(session_id, source, n, events)
    try:
        # Before the transaction: a large batch takes seconds to decode and encode, and SQLite lets no other client write meanwhile.
        batch.prepare()
        with transaction.atomic():
            if not _take_number(session_id, source, n, digest=digest, events=len(events), version=version, has_times=bool(times)):
                return _repeated_batch(session_id, source, n, digest)
            seq, is_owned = batch.accept_in_transaction()
            if seq:
                observed.set_last_seq(session_id, seq)
            if times:
                decision_times.store(session_id, n, times)
    except CommandRefused as error:
        raise error.inside(f"events[{batch.index}]") from None
    except IntegrityError:
        # Two first batches arrived concurrently.
        return _repeated_batch(session_id, source, n, digest)
    if not seq:
        return _accepted_batch(session_id, n, duplicate=False)
    wakeups.notify(session_id, owned=is_owned)
    return AcceptedBatch(n=n, seq=seq, duplicate=False)


def _take_number(session_id: UUID, source: str, n: int, *, digest: str, events: int, version: str, has_times: bool) -> bool:
    """Advance to batch n; False if it is not the next one."""

    def take() -> bool:
        return observed.take_batch(session_id, source, n, digest=keyed(digest), events=events, version=version, has_times=has_times)

    if take():
        return True
    if n != 1 or Observer.objects.filter(session_id=session_id).exists():
        return False
    session = _require_empty(session_id)
    Observer.objects.create(session_id=session_id, source=source)
    Session.objects.filter(pk=session_id).update(source={**session.source, "follows": source})
    return take()


def _require_empty(session_id: UUID) -> Session:
    session = Session.objects.filter(pk=session_id).first()
    if session is None:
        raise SessionGone(f"There is no session {session_id}.")
    if session.status == Session.Status.IMPORTING:
        raise CannotFollow("The session is being imported. Push when it is ready.")
    if session.nodes or session.pods or session.forked_from_id:
        contents = (
            "is a fork, and forks are detached" if session.forked_from_id else f"has {session.nodes} nodes and {session.pods} pods already"
        )
        raise CannotFollow(
            f"The session {contents}; a cluster can only be followed into an empty session "
            "(`schedviz follow` without --session creates one)."
        )
    return session


def _repeated_batch(session_id: UUID, source: str, n: int, digest: str) -> AcceptedBatch:
    """The result for a batch that was accepted before. Raises `WrongBatch` or `CannotFollow` if it was not."""
    observer = observer_of(session_id)
    if observer is None:
        raise WrongBatch(1, n)
    if observer.source != source:
        raise CannotFollow(f"source: this session follows {observer.source!r}, found {source!r}; one session follows one source.")
    if observer.n == n and is_same(observer.digest, digest):
        return _accepted_batch(session_id, n, duplicate=True)
    raise WrongBatch(observer.n + 1, n)


def _accepted_batch(session_id: UUID, n: int, *, duplicate: bool) -> AcceptedBatch:
    seq = Observer.objects.filter(session_id=session_id).values_list("last_seq", flat=True).first()
    return AcceptedBatch(n=n, seq=seq or 0, duplicate=duplicate)


class _Batch:
    """Translates one batch into commands, and stores the observed states."""

    def __init__(self, session_id: UUID, source: str, n: int, events: Sequence[Seen]) -> None:
        self._session_id = session_id
        self._prefix = f"{source}:{n}:"
        self._events = events
        self._identities: list[_Identity] = []
        self._prepared: inbox.ObservedCommands | None = None
        #: The index of the event in progress.
        self.index = 0

    def prepare(self) -> None:
        """Decode the objects, and encode the commands that follow from what is stored at present. Raises `CommandRefused`."""
        for index, seen in enumerate(self._events):
            self.index = index
            self._identities.append(_identity(seen.object))
        self._prepared = inbox.ObservedCommands(self._commands(self._stored_states(), set()))

    def accept_in_transaction(self) -> tuple[int, bool]:
        """Store the commands and the observed states; as `inbox.ObservedCommands.accept_in_transaction`."""
        states, touched = self._stored_states(), set[ObjectKey]()
        commands = list(self._commands(states, touched))
        if self._prepared is None or not self._prepared.are(commands):
            # Another batch was accepted meanwhile.
            self._prepared = inbox.ObservedCommands(commands)
        result = self._prepared.accept_in_transaction(self._session_id)
        self._write(states, touched)
        return result

    def _stored_states(self) -> dict[ObjectKey, LastState]:
        return observed.select_states(self._session_id, [_key(namespace, name) for _, namespace, name in self._identities])

    def _commands(self, states: dict[ObjectKey, LastState], touched: set[ObjectKey]) -> Iterator[tuple[str, AnyCommand]]:
        """The commands with their keys, `source:n:i`, and `source:n:i~` for changes whose order is not known. Changes both arguments."""
        number = 0
        for index, (seen, identity) in enumerate(zip(self._events, self._identities, strict=True)):
            self.index = index
            for command in self._commands_of(seen, identity, states, touched):
                yield f"{self._prefix}{number}{UNORDERED_SUFFIX if seen.listed else ''}", command
                number += 1

    def _commands_of(
        self, seen: Seen, identity: _Identity, states: dict[ObjectKey, LastState], touched: set[ObjectKey]
    ) -> Iterator[AnyCommand]:
        kind, namespace, name = identity
        key = (kind, _key(namespace, name))
        before = states.pop(key, None)
        touched.add(key)
        delete = Delete(kind=kind, name=name, namespace=namespace or "default")
        if seen.type == "DELETED":
            if before is not None:
                yield delete
            return
        meta = seen.object["metadata"]
        now = states[key] = LastState(str(meta.get("uid") or ""), seen.version, terminating=bool(meta.get("deletionTimestamp")))
        if before is not None and before.uid != now.uid:
            yield delete
            before = None
        if before is None:
            yield Create(object=seen.object)
            return
        if now.terminating and not before.terminating:
            # As on a real API server, an update does not change the deletionTimestamp.
            is_pod = kind == "Pod"
            yield msgspec.structs.replace(delete, graceful=is_pod, finalizers=not is_pod)
        yield Update(object=seen.object)

    def _write(self, states: dict[ObjectKey, LastState], touched: set[ObjectKey]) -> None:
        observed.store_states(self._session_id, {at: states[at] for at in touched if at in states})
        observed.delete_states(self._session_id, [at for at in touched if at not in states])


def _key(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


def _identity(raw: dict[str, Any]) -> _Identity:
    """Raises `CommandRefused`."""
    try:
        obj = codec.from_dict(raw)
    except DecodeError as error:
        raise refused_object(error) from None
    kind, meta = BY_TYPE[type(obj)], obj.metadata
    for member, text, max_bytes in (("name", meta.name, 253), ("namespace", meta.namespace, 63), ("uid", meta.uid, 128)):
        if not is_possible(text, max_bytes):
            raise CommandRefused(
                f"expected at most {max_bytes} bytes in one line, without control characters", path=f"object.metadata.{member}"
            )
    if not meta.name:
        raise CommandRefused("expected a name", path="object.metadata.name")
    return kind.name, (meta.namespace or "default") if kind.namespaced else "", meta.name
