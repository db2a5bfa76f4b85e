"""The worker loop: hosts a session's engine while the session is in use.

Take the lease · load the engine · repair the stream · execute slices until no command is left · linger · release the lease.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from uuid import UUID

import structlog
from django.db import DatabaseError, DataError, IntegrityError, connection

from schedviz.sessions import disk, frames
from schedviz.sessions.errors import Fenced, HistoryUnavailable, ReplayDiverged
from schedviz.sessions.hosting import lease, slot_turns
from schedviz.sessions.hosting.engine_host import EngineHost
from schedviz.sessions.hosting.engine_memory import MEMORY
from schedviz.sessions.hosting.lease import LEASE_RENEWER, SEQ_AFTER_BACKOFF, TRIES_OF_STUCK_COMMAND, Lease
from schedviz.sessions.hosting.slice_runner import STUCK_REASON, EngineError
from schedviz.sessions.hosting.slots import SLOTS, STOPPING
from schedviz.sessions.hosting.watchdog import StageTimeout
from schedviz.sessions.metrics import process as process_metrics
from schedviz.sessions.models import Session
from schedviz.sessions.redis import stream, wakeups

logger = logging.getLogger(__name__)

#: The worker releases a session after this long without a command; sooner if most slots are taken (`Slots.is_crowded`): first those of
#: the sender with the most slots, so that others who think between two steps need not wait for a slot each time.
LINGER_SECONDS = 60.0
CROWDED_LINGER_SECONDS = 1.0
_CROWDED_LINGER_SECONDS_OF_OTHERS = 10.0
#: After this long the worker releases a session, with or without work, if another one waits for a slot, and a session with a run in any
#: case, because another worker may have more time for it. A session that is stepped stays while slots are free: hosting begins with
#: loading an engine, and the sessions of a class would all load theirs in the same second.
LONG_HOSTING_SECONDS = 300.0
#: A session is released sooner than that for one that waits for a slot. One that still has work: after at least one slice, when it has
#: worked this many times as long as its engine took to load. Any other, and one that waits most of the time (a run with a rate): after this
#: many times the load for each session that the process hosts, so that handing over slots takes a part of one core at most, however
#: many sessions are stepped; and after a second at least.
MIN_WORK_PER_LOAD = 2.0
_MIN_HOSTING_SECONDS = 1.0
#: How often the inbox is polled between wake-ups, with Redis and without it.
INBOX_POLL_SECONDS = 1.0
INBOX_POLL_SECONDS_WITHOUT_REDIS = 0.05
#: After this many owners in a row crashed, a command is quarantined. If no command is the known cause, the session backs off: 2 s after the
#: third crash, 4 s after the fourth, and so on. It does not fail, because the cause of a crash can only be inferred.
MAX_WORKER_CRASHES = 3
#: How long a session backs off that finds no memory for its engine.
MEMORY_BACKOFF_SECONDS = 5.0


class WarmEngines:
    """Engines of sessions that this process released gracefully. They are used again if no other owner has written to their session."""

    def __init__(self, maximum: int = 4) -> None:
        self._maximum = maximum
        self._engines: OrderedDict[UUID, EngineHost] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, host: EngineHost) -> None:
        if MEMORY.is_short:
            self.clear()
            return
        with self._lock:
            self._engines[host.session.pk] = host
            while len(self._engines) > self._maximum:
                self._engines.popitem(last=False)

    def pop(self, session_id: UUID) -> EngineHost | None:
        with self._lock:
            return self._engines.pop(session_id, None)

    def clear(self) -> None:
        with self._lock:
            self._engines.clear()


WARM = WarmEngines()


def host_next_session(session_id: UUID) -> None:
    """Host the session that a task names, or first one of another sender, if it is that one's turn."""
    stream.task_has_begun(session_id)
    next_id = slot_turns.next_session(session_id)
    if next_id != session_id:
        # Its task goes to the end of the queue.
        wakeups.notify(session_id, owned=False)
    with structlog.contextvars.bound_contextvars(session=str(next_id)):
        host_session(next_id)


def host_session(session_id: UUID, *, linger_seconds: float = LINGER_SECONDS) -> None:
    """Host a session's engine for a while. Does nothing when another worker hosts it."""
    stream.task_has_begun(session_id)
    if STOPPING.is_set():
        wakeups.notify(session_id, owned=False)
        return
    acquired = lease.acquire(session_id)
    if acquired is None:
        return
    own_lease, session = acquired
    if session.acquisitions > 1:
        process_metrics.RECOVERIES.inc()
    LEASE_RENEWER.hold(own_lease)
    ended = "failed"
    try:
        with SLOTS.hosting(session.owner_id), MEMORY.hosting(session_id, session.owner_id, session.object_count):
            ended = _HostedSession(own_lease, session, linger_seconds).run()
    except Fenced as fenced:
        ended = "fenced"
        process_metrics.LEASES_LOST.inc()
        logger.info("released session %s: %s", session_id, fenced)
    except DatabaseError as error:
        ended = "database"
        if full := disk.full_disk(error):
            logger.error("released session %s until its lease expires: %s (%s)", session_id, full, error)  # noqa: TRY400 (one line is enough)
        else:
            logger.warning("released session %s because the database failed: %s", session_id, error)
    except StageTimeout:
        ended = "stuck"
        logger.exception("released session %s, which backs off: one step of its load took too long", session_id)
        # It may have been interrupted in a query.
        connection.close()
    except Exception:
        # A bug in schedviz. The next owner tries again; after several failures the session backs off, longer each time.
        logger.exception("released session %s after an error", session_id)
        lease.release(own_lease, gracefully=False)
    finally:
        LEASE_RENEWER.drop(own_lease)
        process_metrics.HOSTINGS.labels(ended).inc()
        if MEMORY.is_short:
            WARM.clear()
            MEMORY.collect()


class _HostedSession:
    def __init__(self, own_lease: Lease, session: Session, linger_seconds: float) -> None:
        self.lease = own_lease
        self.session = session
        self.linger_seconds = linger_seconds
        self.host = EngineHost(own_lease, session)

    def run(self) -> str:
        """Host the engine; returns why that ended, as a label for metrics.

        `resting`: it backed off; `gave way`: it was released for a session that waits for a slot, or for another worker.
        """
        if self._back_off_after_crashes():
            return "resting"
        if not self._load():
            return "not loaded"
        self.host.publish_missed()
        began = used = time.monotonic()
        while True:
            if self._work():
                used = time.monotonic()
            now = time.monotonic()
            if MEMORY.must_leave(self.session.owner_id):
                self._leave_for_memory()
                return "gave way"
            if STOPPING.is_set() or self._claim_leaving(now - began):
                self._leave_for_another()
                return "stopping" if STOPPING.is_set() else "gave way"
            if self._leave_if_idle(now - used):
                return "idle"
            self._wait()

    # --- Beginning

    def _back_off_after_crashes(self) -> bool:
        """Back off if owners crashed and no command is the known cause; returns whether it did. Marks a known command for quarantine.

        A session that has backed off since the last crash is tried again.
        """
        session, crashes = self.session, self.session.acquisitions - 1
        if session.trying_seq == SEQ_AFTER_BACKOFF:
            session.message = ""
            lease.try_update(self.lease, trying_seq=0, message="")
            return False
        if session.trying_seq > session.applied_seq and session.tries >= TRIES_OF_STUCK_COMMAND:
            self.host.to_quarantine[session.trying_seq] = STUCK_REASON
            return False
        if crashes < MAX_WORKER_CRASHES:
            return False
        if session.trying_seq == session.applied_seq + 1:
            # Commands are announced only after a first crash, so the first one is not counted.
            if session.tries >= MAX_WORKER_CRASHES - 1:
                self.host.to_quarantine[session.trying_seq] = (
                    f"{crashes} attempts in a row to execute it failed: a worker ended, or its commit raised an error. "
                    "The workers' logs say why."
                )
                return False
            # Some of the crashes had another reason, so the command is tried again; otherwise it would never be identified. But every
            # third crash in a row is followed by a backoff, so that a session that keeps crashing does not occupy the workers.
            if crashes % MAX_WORKER_CRASHES:
                return False
        self._back_off_exponentially(crashes, f"{crashes} attempts in a row to continue this session failed", has_tried=False)
        return True

    def _back_off_exponentially(self, crashes: int, why: str, *, has_tried: bool) -> None:
        """Back off, twice as long after each failed attempt."""
        seconds = min(2.0 ** (max(crashes, MAX_WORKER_CRASHES) - MAX_WORKER_CRASHES + 1), lease.MAX_BACKOFF_SECONDS)
        message = f"{why}; the next attempt is in {seconds:.0f} s. No accepted command is lost."
        logger.error("session %s backs off: %s", self.session.pk, message)
        self._back_off(seconds, message, has_tried=has_tried)

    def _back_off(self, seconds: float, message: str, *, has_tried: bool) -> None:
        self.session.message = message
        if lease.back_off(self.lease, seconds, message, has_tried=has_tried):
            self._publish_status()

    def _publish_status(self) -> None:
        stream.publish(self.session.pk, [], [frames.status(frames.session_state(self.session))])

    def _load(self) -> bool:
        """Load the engine, or continue with one that this process has kept; False when it could not be loaded."""
        warm = WARM.pop(self.session.pk)
        if warm is not None and warm.take_over(self.lease, self.session):
            self.host = warm
            MEMORY.weigh(self.session.pk, warm.weight)
            return True
        if MEMORY.must_wait(self.session.pk, self.session.owner_id):
            self._back_off_for_memory()
            return False
        try:
            self.host.load()
        except (ReplayDiverged, HistoryUnavailable) as error:
            self._fail(str(error))
            return False
        except (DatabaseError, Fenced):
            raise
        except Exception as error:
            logger.exception("session %s cannot be loaded", self.session.pk)
            why = f"This session could not be loaded ({type(error).__name__}: {str(error)[:300]})"
            self._back_off_exponentially(self.session.acquisitions, why, has_tried=True)
            return False
        MEMORY.weigh(self.session.pk, self.host.weight)
        return True

    def _back_off_for_memory(
        self, why: str = "The memory of the engine worker is used up by other sessions.", seconds: float = MEMORY_BACKOFF_SECONDS
    ) -> None:
        message = (
            f"{why} This session is tried again in {seconds:.0f} s. No accepted command is lost. Delete large sessions that are not needed."
        )
        logger.warning("session %s backs off: %s", self.session.pk, message)
        self._back_off(seconds, message, has_tried=False)

    def _fail(self, message: str) -> None:
        logger.error("session %s failed: %s", self.session.pk, message)
        self.session.status, self.session.message = Session.Status.FAILED, message
        if lease.try_update(self.lease, status=Session.Status.FAILED, message=message, lease_owner="", lease_until=0.0):
            self._publish_status()

    # --- Working

    def _work(self) -> bool:
        """Execute one slice if a command is due; returns whether one was."""
        host = self.host
        if not host.has_work or host.seconds_until_due > 0:
            return False
        try:
            host.work_slice()
        except EngineError as error:
            reloaded = host.without_command(error)
            reloaded.load()
            self.host = reloaded
        except (DataError, IntegrityError):
            # The command made what the database cannot store.
            raise
        except DatabaseError:
            if host.is_suspicious:
                lease.discount(self.lease)
            raise
        MEMORY.weigh(self.session.pk, self.host.weight)
        return True

    def _wait(self) -> None:
        """Wait until cycles are due or a wake-up arrives, at most for a moment; then read the inbox."""
        host = self.host
        due = host.seconds_until_due
        if host.has_work and due == 0:
            return
        woken = stream.wait_for_wake(self.session.pk, min(due or INBOX_POLL_SECONDS, INBOX_POLL_SECONDS))
        host.judge_due_bindings()
        host.store_metrics()
        if woken is None:
            time.sleep(min(due or INBOX_POLL_SECONDS_WITHOUT_REDIS, INBOX_POLL_SECONDS_WITHOUT_REDIS))
        host.read_inbox()

    # --- Leaving

    def _claim_leaving(self, seconds: float) -> bool:
        """Whether the session must leave now: for another that waits for a slot, or, a long run, for another worker.

        If it is true, the session counts as leaving (`Slots.begin_leaving`), so the caller must release it.
        """
        host = self.host
        if seconds > LONG_HOSTING_SECONDS:
            return host.running is not None or SLOTS.begin_leaving(self.session.owner_id, of_any_sender=True)
        return self._has_had_its_turn(seconds) and SLOTS.begin_leaving(self.session.owner_id)

    def _has_had_its_turn(self, seconds: float) -> bool:
        """Whether the session has been hosted, or has worked, for long enough to give way to one that waits for a slot."""
        host = self.host
        if host.has_work and not host.pace and host.worked_seconds >= MIN_WORK_PER_LOAD * host.load_seconds:
            return True
        return seconds >= max(_MIN_HOSTING_SECONDS, MIN_WORK_PER_LOAD * host.load_seconds * SLOTS.taken)

    def _leave_if_idle(self, idle_seconds: float) -> bool:
        """Release the lease if no command arrived for long enough. Returns whether it did."""
        if self.host.has_work or idle_seconds < self._linger():
            return False
        self.host.store_metrics(now=True)
        if not lease.release_idle(self.lease):
            self.host.read_inbox()
            return False
        WARM.put(self.host)
        return True

    def _linger(self) -> float:
        owner_id = self.session.owner_id
        if not (MEMORY.is_short or SLOTS.is_crowded):
            return self.linger_seconds
        is_needed = MEMORY.is_needed_by_others(owner_id) or (SLOTS.is_crowded and SLOTS.has_most(owner_id))
        return min(self.linger_seconds, CROWDED_LINGER_SECONDS if is_needed else _CROWDED_LINGER_SECONDS_OF_OTHERS)

    def _leave_for_memory(self) -> None:
        """Release the session because its owner's engines use most of the memory. If nobody else's can be loaded, it is loaded again only
        after they had time to load: the next command may come in a moment.
        """
        host = self.host
        if not MEMORY.is_exhausted:
            self._leave_for_another()
            return
        host.judge_due_bindings(now=True)
        host.store_metrics(now=True)
        why = "The sessions of this owner use most of the memory of the engine worker, and others wait for it."
        # Those that wait try again sooner.
        self._back_off_for_memory(why, 2 * MEMORY_BACKOFF_SECONDS)

    def _leave_for_another(self) -> None:
        has_work = self.host.has_work
        self.host.judge_due_bindings(now=True)
        self.host.store_metrics(now=True)
        lease.release(self.lease)
        WARM.put(self.host)
        if has_work or Session.objects.filter(pk=self.session.pk).exclude(last_seq=self.host.position.applied_seq).exists():
            wakeups.notify(self.session.pk, owned=False)
