"""A turn: a worker takes a session, does what its inbox holds, lingers while it is in use, and leaves.

Take the lease · load the engine · repair the stream · slices until there is nothing to do · linger · leave.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from uuid import UUID

from django.db import DatabaseError

from schedviz.sessions import disk, frames
from schedviz.sessions.errors import Fenced, HistoryUnavailable, ReplayDiverged
from schedviz.sessions.hosting import lease
from schedviz.sessions.hosting.engine_host import EngineHost
from schedviz.sessions.hosting.lease import LEASE_RENEWER, RESTED, STUCK, Lease
from schedviz.sessions.hosting.slice_runner import EngineBroke
from schedviz.sessions.hosting.slots import SLOTS, STOPPING
from schedviz.sessions.hosting.watchdog import STAGE_SECONDS
from schedviz.sessions.metrics import process as measured
from schedviz.sessions.models import Session
from schedviz.sessions.redis import stream, wakeups

logger = logging.getLogger(__name__)

#: A turn ends after so long without a command.
LINGER_SECONDS = 60.0
CROWDED_LINGER_SECONDS = 1.0
#: After so long a turn leaves where somebody waits for a slot, and a run in any case: another worker may have more time for it. Who steps
#: and is in nobody's way stays: each turn begins with an engine to load, and those of a class would all do so in the same second.
TURN_SECONDS = 300.0
#: Where others wait for a slot, a turn has done its part when it worked so many times as long as its engine took to load (and one slice).
LOADS_WORTH = 2.0
#: The same for a run with a rate, which works little, in seconds since its turn began.
_PACED_TURN_SECONDS = 1.0
#: How often the inbox is looked at without being woken, with Redis and without it.
LOOK_SECONDS = 1.0
LOOK_WITHOUT_REDIS_SECONDS = 0.05
#: A session that so many owners in a row died of has a command quarantined or, where no command is to blame, is left alone for a while:
#: for 2 s after the third death, 4 after the fourth, and so on. It does not fail, for who died of what can only be guessed.
MAX_WORKER_DEATHS = 3


class WarmEngines:
    """Engines of this process that were left in order: if nobody else wrote to their session, a new turn goes on with them."""

    def __init__(self, most: int = 4) -> None:
        self._most = most
        self._engines: OrderedDict[UUID, EngineHost] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, hosted: EngineHost) -> None:
        with self._lock:
            self._engines[hosted.session.pk] = hosted
            while len(self._engines) > self._most:
                self._engines.popitem(last=False)

    def take(self, session_id: UUID) -> EngineHost | None:
        with self._lock:
            return self._engines.pop(session_id, None)

    def clear(self) -> None:
        with self._lock:
            self._engines.clear()


WARM = WarmEngines()


def host_session(session_id: UUID, *, linger_seconds: float = LINGER_SECONDS) -> None:
    """Host a session's engine for a while. Does nothing when somebody else does."""
    stream.clear_bell(session_id)
    if STOPPING.is_set():
        wakeups.notify(session_id, owned=False)
        return
    taken = lease.acquire(session_id)
    if taken is None:
        return
    mine, session = taken
    if session.acquisitions > 1:
        measured.RECOVERIES.inc()
    LEASE_RENEWER.hold(mine)
    ended = "failed"
    try:
        with SLOTS:
            ended = _HostedSession(mine, session, linger_seconds).take()
    except Fenced as fenced:
        ended = "fenced"
        measured.LEASES_LOST.inc()
        logger.info("left session %s: %s", session_id, fenced)
    except DatabaseError as error:
        ended = "database"
        if full := disk.full_disk(error):
            logger.error("left session %s until its lease has run out: %s (%s)", session_id, full, error)  # noqa: TRY400 (one line is enough)
        else:
            logger.warning("left session %s, the database failed: %s", session_id, error)
    except Exception:
        # Ours to mend; the session is tried again by whoever comes next, and left alone for longer and longer if that does not help.
        logger.exception("left session %s", session_id)
        lease.release(mine, in_order=False)
    finally:
        LEASE_RENEWER.drop(mine)
        measured.HOSTINGS.labels(ended).inc()


class _HostedSession:
    def __init__(self, mine: Lease, session: Session, linger_seconds: float) -> None:
        self.lease = mine
        self.session = session
        self.linger_seconds = linger_seconds
        self.hosted = EngineHost(mine, session)

    def take(self) -> str:
        """Host the engine; why that ended, in a word."""
        if self._is_to_rest():
            return "resting"
        if not self._load():
            return "not loaded"
        self.hosted.publish_missed()
        began = used = time.monotonic()
        while True:
            if self._work():
                used = time.monotonic()
            now = time.monotonic()
            if STOPPING.is_set() or self._gives_way(now - began):
                self._leave_for_another()
                return "stopping" if STOPPING.is_set() else "gave way"
            if self._has_left_idle(now - used):
                return "idle"
            self._wait()

    # --- Beginning

    def _is_to_rest(self) -> bool:
        """Name the command that owners died of, or leave the session alone where it was not a command's fault; True for the latter."""
        session, deaths = self.session, self.session.acquisitions - 1
        if session.trying_seq == RESTED:
            session.message = ""
            lease.fenced_update(self.lease, trying_seq=0, message="")
            return False
        if session.trying_seq > session.applied_seq and session.tries >= STUCK:
            self.hosted.broken[session.trying_seq] = (
                f"it computed for over {STAGE_SECONDS:g} s without a pause, which ended the worker process. "
                "Ask for less in one command; if the server was overloaded, send it again."
            )
            return False
        if deaths < MAX_WORKER_DEATHS:
            return False
        if session.trying_seq == session.applied_seq + 1:
            # The first death came unannounced: then nobody had a reason to say what it was about to do.
            if session.tries >= MAX_WORKER_DEATHS - 1:
                self.hosted.broken[session.trying_seq] = f"{deaths} workers in a row ended while doing it."
                return False
            # Another one died of something else, before or after: the command is tried again, else it would never be named.
            if deaths % MAX_WORKER_DEATHS:
                return False
        self._rest(deaths, f"{deaths} workers in a row ended while loading this session", has_tried=False)
        return True

    def _rest(self, deaths: int, why: str, *, has_tried: bool) -> None:
        seconds = min(2.0 ** (max(deaths, MAX_WORKER_DEATHS) - MAX_WORKER_DEATHS + 1), lease.LONGEST_REST_SECONDS)
        message = f"{why}; it is loaded again in {seconds:.0f} s. Nothing that was accepted is lost."
        logger.error("session %s rests: %s", self.session.pk, message)
        self.session.message = message
        if lease.rest(self.lease, seconds, message, has_tried=has_tried):
            stream.publish(self.session.pk, [], [frames.status(frames.session_state(self.session))])

    def _load(self) -> bool:
        """Make the engine, or take one that this process still has; False when the session failed."""
        warm = WARM.take(self.session.pk)
        if warm is not None and warm.take_over(self.lease, self.session):
            self.hosted = warm
            return True
        try:
            self.hosted.load()
        except (ReplayDiverged, HistoryUnavailable) as error:
            self._fail(str(error))
            return False
        except (DatabaseError, Fenced):
            raise
        except Exception as error:
            logger.exception("session %s cannot be loaded", self.session.pk)
            why = f"This session could not be loaded ({type(error).__name__}: {str(error)[:300]})"
            self._rest(self.session.acquisitions, why, has_tried=True)
            return False
        return True

    def _fail(self, message: str) -> None:
        logger.error("session %s failed: %s", self.session.pk, message)
        self.session.status, self.session.message = Session.Status.FAILED, message
        if lease.fenced_update(self.lease, status=Session.Status.FAILED, message=message, lease_owner="", lease_until=0.0):
            stream.publish(self.session.pk, [], [frames.status(frames.session_state(self.session))])

    # --- Working

    def _work(self) -> bool:
        """One slice, if something is due; whether something was."""
        hosted = self.hosted
        if not hosted.has_work or hosted.seconds_until_due > 0:
            return False
        try:
            hosted.work_slice()
        except EngineBroke as broke:
            reloaded = hosted.without(broke)
            reloaded.load()
            self.hosted = reloaded
        return True

    def _wait(self) -> None:
        """Wait for what is due, for a wake, or a moment."""
        hosted = self.hosted
        due = hosted.seconds_until_due
        if hosted.has_work and due == 0:
            return
        woken = stream.wait_for_wake(self.session.pk, min(due or LOOK_SECONDS, LOOK_SECONDS))
        hosted.store_figures()
        if woken is None:
            time.sleep(min(due or LOOK_WITHOUT_REDIS_SECONDS, LOOK_WITHOUT_REDIS_SECONDS))
        hosted.read_inbox()

    # --- Leaving

    def _gives_way(self, seconds: float) -> bool:
        """Whether it has had its part and somebody waits for a slot, or it is a run that another worker may go on with."""
        hosted = self.hosted
        if seconds > TURN_SECONDS:
            return hosted.running is not None or SLOTS.give_way()
        worked = seconds >= _PACED_TURN_SECONDS if hosted.pace else hosted.worked_seconds >= LOADS_WORTH * hosted.load_seconds
        return worked and hosted.has_work and SLOTS.give_way()

    def _has_left_idle(self, idle_seconds: float) -> bool:
        linger = min(self.linger_seconds, CROWDED_LINGER_SECONDS) if SLOTS.is_crowded else self.linger_seconds
        if self.hosted.has_work or idle_seconds < linger:
            return False
        self.hosted.store_figures(now=True)
        if not lease.release_idle(self.lease):
            self.hosted.read_inbox()
            return False
        WARM.keep(self.hosted)
        return True

    def _leave_for_another(self) -> None:
        has_work = self.hosted.has_work
        self.hosted.store_figures(now=True)
        lease.release(self.lease)
        WARM.keep(self.hosted)
        if has_work or Session.objects.filter(pk=self.session.pk).exclude(last_seq=self.hosted.position.applied_seq).exists():
            wakeups.notify(self.session.pk, owned=False)
