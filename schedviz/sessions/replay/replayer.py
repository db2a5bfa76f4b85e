"""Replays stored commands. All inputs are stored, so the same events result and no extender is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import starmap
from uuid import UUID

import msgspec

from schedviz import __version__
from schedviz.engine import Simulation
from schedviz.engine.framework.plugins.installed import installed_plugins
from schedviz.engine.simulation import never
from schedviz.sessions.errors import HistoryUnavailable, ReplayDiverged
from schedviz.sessions.extenders import stored_responses
from schedviz.sessions.history import lineage
from schedviz.sessions.hosting.watchdog import while_cycle_lasts
from schedviz.sessions.models import Checkpoint, Session
from schedviz.sessions.queries import prepared
from schedviz.sessions.replay import starting_point
from schedviz.sessions.replay.determinism import DeterminismCheck, suspicion
from schedviz.trace.commands import AnyCommand, decode_command

#: Stored with every checkpoint, because the engine of another version may decide differently.
ENGINE_VERSION = __version__
#: Commands loaded by one query, and the bytes from which on it loads no further one. A decoded command takes several times its bytes.
_COMMANDS_PER_QUERY = 200
_BYTES_PER_QUERY = 1 << 20


class StoredCommand(msgspec.Struct, frozen=True):
    """A stored command."""

    seq: int
    command: AnyCommand
    stopped_event: int | None = None
    quarantined: bool = False
    #: The idempotency key; "" if it is not needed.
    key: str = ""


def stored_commands(session_id: UUID, *, after_seq: int, limit: int = 1 << 40) -> Iterator[StoredCommand]:
    """The accepted commands after one, in order."""
    while limit > 0:
        rows = _next_rows(session_id, after_seq=after_seq, limit=limit)
        yield from starmap(_decoded, rows)
        if len(rows) < _COMMANDS_PER_QUERY and sum(len(body) for _, body, *_ in rows) < _BYTES_PER_QUERY:
            return
        limit -= len(rows)
        after_seq = rows[-1][0]


def next_commands(session_id: UUID, *, after_seq: int, limit: int) -> list[StoredCommand]:
    """The next accepted commands, as many as one query loads; empty at the end."""
    return list(starmap(_decoded, _next_rows(session_id, after_seq=after_seq, limit=limit)))


def _next_rows(session_id: UUID, *, after_seq: int, limit: int) -> list[tuple[int, bytes, int | None, bool, str]]:
    return prepared.select_commands(session_id, after_seq=after_seq, limit=min(limit, _COMMANDS_PER_QUERY), most_bytes=_BYTES_PER_QUERY)


def _decoded(seq: int, body: bytes, stopped_event: int | None, quarantined: bool, key: str) -> StoredCommand:  # noqa: FBT001 -- a row
    return StoredCommand(seq=seq, command=decode_command(body), stopped_event=stopped_event, quarantined=quarantined, key=key)


def replay(
    simulation: Simulation,
    checkpoint: Checkpoint,
    *,
    to_seq: int,
    to_event: int,
    between_cycles: Callable[[], bool] = lambda: False,
) -> StoredCommand | None:
    """Advance an engine from its checkpoint to a committed position: all commands up to `to_seq`, then the next one up to `to_event`.
    Returns the command that is in progress there, if any.

    `between_cycles` is called between cycles and between commands, and ends the replay by returning True. Raises `ReplayDiverged`.
    """
    simulation.extender_calls.transport = stored_responses.StoredResponses(checkpoint.session_id)
    recorded = DeterminismCheck(checkpoint.session_id, after=simulation.event, until=to_event)

    def ended() -> bool:
        # The records of a long run would not fit into memory.
        recorded.check(simulation)
        drop_records(simulation)
        return between_cycles()

    try:
        return _replay(simulation, checkpoint, to_seq=to_seq, to_event=to_event, ended=ended)
    finally:
        # Also after an error: the first different event says more than the position.
        recorded.check(simulation)


def _replay(
    simulation: Simulation, checkpoint: Checkpoint, *, to_seq: int, to_event: int, ended: Callable[[], bool]
) -> StoredCommand | None:
    begun = checkpoint.in_command
    for stored in stored_commands(checkpoint.session_id, after_seq=checkpoint.applied_seq, limit=to_seq - checkpoint.applied_seq + 1):
        if stored.seq > to_seq:
            if simulation.event >= to_event and not begun:
                break
            if not _do_until(simulation, stored, to_event, begun=begun, between_cycles=ended):
                _require_event(simulation, to_event)
            return stored
        if stored.quarantined and stored.stopped_event is None:
            continue
        if _do(simulation, stored, begun=begun, between_cycles=ended):
            return stored
        begun = False
        if ended():
            return stored
    _require_event(simulation, to_event)
    return None


def _do(simulation: Simulation, stored: StoredCommand, *, begun: bool, between_cycles: Callable[[], bool]) -> bool:
    """Execute one command as far as it was recorded; True if `between_cycles` ended the replay."""
    if stored.stopped_event is not None:
        if _do_until(simulation, stored, stored.stopped_event, begun=begun, between_cycles=between_cycles):
            return True
        simulation.interrupt()
        return False
    if not begun:
        simulation.start(stored.command, seq=stored.seq)
    return simulation.work(stop=between_cycles) is None


def _do_until(simulation: Simulation, stored: StoredCommand, event: int, *, begun: bool, between_cycles: Callable[[], bool]) -> bool:
    """Execute a command up to an event; True if `between_cycles` ended the replay before it."""
    if not begun:
        simulation.start(stored.command, seq=stored.seq)
    ended = False

    def stop() -> bool:
        nonlocal ended
        ended = ended or between_cycles()
        return ended or simulation.event >= event

    if simulation.event < event and simulation.work(stop=stop) is not None:
        message = f"Command {stored.seq} ended at event {simulation.event}; in the recording it continued to event {event}."
        raise ReplayDiverged(message + _suspects(simulation))
    return ended


def _require_event(simulation: Simulation, event: int) -> None:
    if simulation.event != event:
        message = f"The replay of the stored commands ended at event {simulation.event}; the recording ended at event {event}."
        raise ReplayDiverged(message + _suspects(simulation))


def _suspects(simulation: Simulation) -> str:
    return suspicion(installed_plugins(simulation.configuration, simulation.release.in_tree_registry()))


def load(session_id: UUID, *, to_seq: int, to_event: int, alive: Callable[[], None]) -> tuple[Simulation, StoredCommand | None, Checkpoint]:
    """The engine at a committed position, the command in progress there, and the checkpoint it was restored from."""

    between_cycles, between_stages = while_cycle_lasts(alive)

    def go_on() -> bool:
        between_cycles()
        return False

    simulation, checkpoint = starting_engine(session_id, alive=alive)
    simulation.on_stage = between_stages
    running = replay(simulation, checkpoint, to_seq=to_seq, to_event=to_event, between_cycles=go_on)
    simulation.on_stage = never
    drop_records(simulation)
    return simulation, running, checkpoint


def starting_engine(
    session_id: UUID,
    *,
    until_event: int | None = None,
    before_cycle: int | None = None,
    alive: Callable[[], None] = lambda: None,
) -> tuple[Simulation, Checkpoint]:
    """The result of `starting_point.find`. If another version saved all engines of a fork, the fork is rebuilt from its parent.

    Raises `HistoryUnavailable` or `ReplayDiverged`.
    """
    try:
        return starting_point.find(session_id, until_event=until_event, before_cycle=before_cycle)
    except starting_point.OtherEngineVersion as error:
        parent, fork_event = Session.objects.values_list("forked_from", "fork_event").get(pk=session_id)
        if parent is None or error.first.event != fork_event:
            raise
        simulation = engine_at(parent, fork_event, between_units=lambda _: alive())
        drop_records(simulation)
        return simulation, starting_point.session_beginning(error.first)


def engine_at(session_id: UUID, event: int, *, between_units: Callable[[Simulation], None]) -> Simulation:
    """The engine after an event, with no command in progress. An engine stops only between stages, or after a command without stages: if
    the event is not the last of its stage, the engine's `event` is.

    `between_units` is called before each cycle or command. Raises `HistoryUnavailable` or `ReplayDiverged`.
    """
    segment = lineage.of_event(session_id, event)
    if segment is None:
        raise HistoryUnavailable(f"The engine at event {event} cannot be rebuilt, because no earlier checkpoint is stored.")
    simulation, checkpoint = starting_engine(segment.session_id, until_event=event)
    simulation.extender_calls.transport = stored_responses.StoredResponses(checkpoint.session_id)
    begun = checkpoint.in_command

    def go_on() -> bool:
        drop_records(simulation)
        between_units(simulation)
        return False

    go_on()
    for stored in stored_commands(checkpoint.session_id, after_seq=checkpoint.applied_seq):
        if simulation.event >= event:
            break
        if stored.quarantined and stored.stopped_event is None:
            continue
        if stored.stopped_event is not None and stored.stopped_event < event:
            _do(simulation, stored, begun=begun, between_cycles=go_on)
        else:
            if not begun:
                simulation.start(stored.command, seq=stored.seq)
            simulation.work_until(event, between_units=go_on)
        begun = False
        go_on()
    simulation.running_command = None
    if simulation.event < event:
        _require_event(simulation, event)
    return simulation


def drop_records(simulation: Simulation) -> None:
    """Drain what a replay produces: it is stored already."""
    simulation.drain_events()
    simulation.drain_cycles()
    simulation.drain_extender_responses()
