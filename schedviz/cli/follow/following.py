"""Follows a cluster: lists all kinds, in the order of their dependencies, then watches them in one thread per kind."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from schedviz.cli.follow.cluster_api import ClusterApi
from schedviz.cli.follow.decisions import Decisions
from schedviz.cli.follow.errors import Expired, FollowError, Forbidden, NotServed, Unavailable
from schedviz.cli.follow.outage import Outage
from schedviz.cli.follow.permissions import missing_permissions
from schedviz.cli.follow.pushing import Pusher
from schedviz.cli.follow.redaction import Redaction
from schedviz.cli.follow.reflector import Change, Reflector
from schedviz.cli.follow.scheduler_log import LogDecisions, SchedulerLog
from schedviz.cli.follow.scheduling_events import FAILED, RESOURCE, SCHEDULED, EventDecisions, EventWatch
from schedviz.cli.follow.waiting_changes import WaitingChanges
from schedviz.kube.kinds import WATCHED_KINDS_V1_36, Kind

#: The most changes in one batch.
_MAX_BATCH_CHANGES = 200
_POLL_SECONDS = 0.2
#: How long decisions wait for a change with which they are pushed.
_DECISION_SECONDS = 0.4
#: How long the first change of a batch waits for others. A batch costs as much CPU time as ten changes, and the page should be at most
#: 200 ms behind.
_GATHER_SECONDS = 0.11
#: How often a list is tried that the API server cannot return.
_MAX_TRIES = 5


class Following:
    """Follows one cluster into one session."""

    def __init__(
        self,
        api: ClusterApi,
        pusher: Pusher,
        redaction: Redaction,
        *,
        without: Sequence[str] = (),
        scheduler_log: Path | None = None,
        say: Callable[[str], None],
    ) -> None:
        """`scheduler_log`: the log of the cluster's scheduler, from which the order of its decisions is read instead of from its events.

        Raises `FollowError`.
        """
        self._pusher = pusher
        self._say = say
        self.outage = Outage(say)
        self._stop = threading.Event()
        #: What is to be pushed.
        self._changes = WaitingChanges()
        #: The changes that a first list found, which are pushed after it; None: those of watches go to `_changes`.
        self._direct: list[Change] | None = []
        self._reflectors = [
            Reflector(api, kind, redaction, emit=self._emit, say=say, outage=self.outage)
            for kind in WATCHED_KINDS_V1_36
            if kind.resource not in without
        ]
        self._order = Order()
        self._decisions = Decisions(redaction)
        #: When no decision waited last.
        self._none_waiting_at = 0.0
        #: What reads times of decisions, each in a thread of its own.
        self._evidence: list[SchedulerLog | EventWatch] = []
        if scheduler_log is not None:
            self._evidence.append(SchedulerLog(scheduler_log, LogDecisions(self._decisions.add)))
        elif RESOURCE not in without:
            events = EventDecisions(self._decisions.add)
            self._evidence += [EventWatch(api, reason, events, say=say) for reason in (FAILED, SCHEDULED)]

    def list_all(self) -> dict[str, int]:
        """List everything, and push what differs from what was pushed before; returns the number of objects by resource. Raises
        `FollowError`.
        """
        known = self._pusher.resume()
        counts: dict[str, int] = {}
        forbidden: list[Forbidden] = []
        for reflector in list(self._reflectors):
            reflector.resume(known.get(reflector.kind.name, {}))
            try:
                counts[reflector.kind.resource] = self._listed(reflector)
            except Forbidden as error:
                if reflector.kind.is_ignored_by_v1_27:
                    # Roles for earlier versions of schedviz lack this permission.
                    self._leave_out(reflector, error)
                else:
                    forbidden.append(error)
            except NotServed as error:
                self._leave_out(reflector, error)
            if not forbidden:
                self._push_direct()
        if forbidden:
            raise missing_permissions(forbidden)
        return counts

    def _leave_out(self, reflector: Reflector, error: FollowError) -> None:
        self._say(f"{error}; it is left out.")
        self._reflectors.remove(reflector)

    def watch(self) -> None:
        """Watch and push until `stop`, or until a watch cannot begin or the server refuses the changes. Raises that `FollowError`."""
        self._direct = None
        for reflector in self._reflectors:
            threading.Thread(target=self._watch, args=(reflector,), name=f"watch {reflector.kind.resource}", daemon=True).start()
        for evidence in self._evidence:
            threading.Thread(target=self._read_evidence, args=(evidence,), name="decisions", daemon=True).start()
        try:
            while not self._stop.is_set():
                self._push_next()
        finally:
            self.stop()

    def stop(self) -> None:
        """Stop pushing, and end the watches with their next event."""
        self._stop.set()

    def _listed(self, reflector: Reflector) -> int:
        for left in reversed(range(_MAX_TRIES)):
            try:
                return reflector.list()
            except (Expired, Unavailable) as error:
                if not left:
                    raise FollowError(str(error)) from None
                self._say(f"{reflector.kind.resource}: {error}; trying again.")
                self._stop.wait(_POLL_SECONDS)
        raise AssertionError

    def _push_direct(self) -> None:
        waiting, self._direct = self._direct or [], []
        for start in range(0, len(waiting), _MAX_BATCH_CHANGES):
            self._pusher.push(waiting[start : start + _MAX_BATCH_CHANGES])

    def _push_next(self) -> None:
        """Push queued changes, at most one batch."""
        try:
            waiting_since, first = self._changes.get(timeout=_POLL_SECONDS)
        except queue.Empty:
            self._push_decisions()
            return
        # It may have waited while the previous batch was pushed.
        batch, until = [first], waiting_since + _GATHER_SECONDS
        while len(batch) < _MAX_BATCH_CHANGES:
            try:
                batch.append(self._changes.get(timeout=max(0.0, until - time.monotonic()))[1])
            except queue.Empty:
                break
        changes = self._order.of([one for one in batch if isinstance(one, Change)], is_interrupted=self.outage.is_on)
        self._pusher.push(changes, self._decisions.next_batch())
        for one in batch:
            if isinstance(one, FollowError):
                raise missing_permissions([one]) if isinstance(one, Forbidden) else one

    def _push_decisions(self) -> None:
        """Push decisions that have waited long enough for a change."""
        now = time.monotonic()
        if not self._decisions:
            self._none_waiting_at = now
        elif now - self._none_waiting_at >= _DECISION_SECONDS:
            self._pusher.push([], self._decisions.next_batch())

    def _emit(self, change: Change) -> None:
        if self._direct is not None:
            self._direct.append(change)
        else:
            self._changes.add(change)

    def _watch(self, reflector: Reflector) -> None:
        try:
            reflector.run(self._stop)
        except FollowError as error:
            self._changes.add(error)
        except Exception as error:  # noqa: BLE001 -- the edge of a thread; the main thread reports the error.
            self._changes.add(FollowError(f"{reflector.kind.resource}: this is a bug in schedviz ({type(error).__name__}: {error})"))

    def _read_evidence(self, evidence: SchedulerLog | EventWatch) -> None:
        try:
            evidence.run(self._stop)
        except Exception as error:  # noqa: BLE001 -- the edge of a thread.
            self._say(
                f"times of decisions are no longer read, so more bindings stay undecided: this is a bug in schedviz "
                f"({type(error).__name__}: {error})"
            )


class Order:
    """The order in which the API server made changes of all kinds, as far as it is known.

    Upstream: resource versions of different kinds can be compared, as all kinds are in one etcd (KEP-5504).
    """

    def __init__(self) -> None:
        #: The highest revision of the batches so far.
        self._newest = 0

    def of(self, changes: list[Change], *, is_interrupted: bool) -> list[Change]:
        """The changes of the next batch in order. Those that come later than newer ones are marked as `late`, and all of them if a watch
        `is_interrupted`: changes of its kind are missing before them.
        """
        if all(change.revision for change in changes):
            changes = sorted(changes, key=lambda change: change.revision)
        newest, self._newest = self._newest, max([self._newest, *(change.revision for change in changes)])
        return [
            msgspec.structs.replace(change, is_late=True) if is_interrupted or 0 < change.revision < newest else change
            for change in changes
        ]


def resources() -> list[str]:
    """The plural names of the watched resources."""
    return [kind.resource for kind in WATCHED_KINDS_V1_36]


def resources_without_gate(gates: Mapping[str, bool]) -> list[str]:
    """The plural names of the resources that a session with these feature gates does not read."""
    return [kind.resource for kind in WATCHED_KINDS_V1_36 if kind.gate and not gates.get(kind.gate)]


def kinds(without: Sequence[str]) -> list[Kind]:
    """The watched kinds."""
    return [kind for kind in WATCHED_KINDS_V1_36 if kind.resource not in without]
