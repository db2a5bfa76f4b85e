"""Why there is nothing to schedule, and what to do next."""

from __future__ import annotations

from schedviz.engine.clock import SECOND
from schedviz.engine.simulation_state import SimulationState


def why_idle(simulation: SimulationState) -> str:
    """A sentence such as `activeQ is empty; the next timer is a backoff of default/p in 3.2 s: advance to it`."""
    held_back = _held_back(simulation)
    if held_back:
        return f"activeQ is empty; {held_back}"
    upcoming = sorted(_timers(simulation), key=lambda timer: timer[0])
    if upcoming:
        due, label = upcoming[0]
        seconds = max(due - simulation.clock.now, 0) / SECOND
        if not seconds:
            return f"activeQ is empty; the next timer is {label}, which has ended: advance to it"
        return f"activeQ is empty; the next timer is {label} in {round(seconds, 3):g} s: advance to it"
    unschedulable = simulation.scheduler.state.queue.unschedulable_pods
    gated = sum(queued.gated for queued in unschedulable)
    waiting = len(unschedulable) - gated
    held_count = len(simulation.scheduler.held_bindings)
    if held_count:
        return f"activeQ is empty; {_count(held_count, 'binding')} held: bind to go on"
    reasons = ["activeQ is empty"]
    if waiting:
        reasons.append(f"{_count(waiting, 'pod')} waiting in unschedulablePods for a change in the cluster")
    if gated:
        reasons.append(f"{_count(gated, 'pod')} gated until the PreEnqueue plugins admit {'it' if gated == 1 else 'them'}")
    return "; ".join(reasons)


def _held_back(simulation: SimulationState) -> str:
    """What v1.36 would do asynchronously, and what the session's settings hold back; "": nothing."""
    scheduler, settings = simulation.scheduler, simulation.settings
    dispatcher = scheduler.state.api_dispatcher
    if settings.hold_preemption and scheduler.preemptions.running:
        return f"{_count(len(scheduler.preemptions.running), 'preemption')} held: preempt to go on"
    if settings.hold_dispatch and dispatcher is not None and dispatcher.pending:
        return f"{_count(len(dispatcher.pending), 'API call')} held: dispatch to go on"
    return ""


def _timers(simulation: SimulationState) -> list[tuple[int, str]]:
    """Pending timers: when each ends, and what it is."""
    scheduler, cluster = simulation.scheduler, simulation.cluster
    queue = scheduler.state.queue
    timers: list[tuple[int, str]] = []
    timeout, expiry = queue.next_unschedulable_timeout(), scheduler.state.cache.next_expiry()
    first = min(queue.pods_in_backoff_q(), key=queue.backoff_end, default=None)
    if first is not None:
        timers.append((queue.backoff_end(first), f"a backoff of {first.pod.key}"))
    if cluster.watches.in_flight:
        event = cluster.watches.in_flight[0]
        timers.append((event.due, f"the watch event {event.verb} of {event.resource} {event.key}"))
    deadline = scheduler.waiting_deadline()
    if deadline is not None:
        timers.append((deadline, "the timeout of a pod that waits in its binding cycle"))
    timer = cluster.controllers.timers.next
    if timer is not None:
        timers.append((timer.due, f"the helper {timer.owner} ({timer.key.rpartition(' ')[0] or timer.key})"))
    if expiry is not None:
        timers.append((expiry + 1, "the expiry of an assumed pod"))
    if timeout is not None:
        timers.append((timeout + 1, "the flush of a pod that has been in unschedulablePods for long"))
    return timers


def _count(number: int, noun: str) -> str:
    return f"1 {noun} is" if number == 1 else f"{number} {noun}s are"
