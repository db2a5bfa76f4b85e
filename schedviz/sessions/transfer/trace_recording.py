"""Exports the commands between two events as a trace, in an io worker. The trace is run and compared with the session, and has the observed
results if they are asked for.

`schedviz conformance` runs such files as regression tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import msgspec

from schedviz.engine import run_trace
from schedviz.ingest.trace_file import trace_from_dict
from schedviz.kube import codec
from schedviz.sessions.errors import HistoryUnavailable
from schedviz.sessions.history import reading
from schedviz.sessions.models import Session
from schedviz.sessions.replay import replayer
from schedviz.sessions.transfer import trace_export
from schedviz.sessions.transfer.trace_export import Start

#: For more cycles × nodes than this, only placements and the final state are recorded.
_FULL_RECORDS = 20_000


class _Cycle(msgspec.Struct, frozen=True):
    """The results of a cycle that must be equal."""

    pod: str
    outcome: str
    node: str

    def __str__(self) -> str:
        return f"{self.pod} was {self.outcome}{f' on {self.node}' if self.node else ''}"


def recording(session: Session, *, after: int | None, until: int | None, observed: bool) -> dict[str, Any]:
    """The trace of what happened between two events, in the format of `schedviz trace`, with or without observed results.

    Raises `NotExportable`, or `HistoryUnavailable` if the trace behaves differently from the session. Then something matters that a trace
    cannot express, such as the times at which pods are retried.
    """
    start = None if after is None else _start(session, after)
    document = trace_export.trace(session, until=until, start=start)
    in_session = list(_session_cycles(session, 0 if start is None else start.event, session.event if until is None else until))
    nodes = sum(step["op"] == "create" and step["object"].get("kind") == "Node" for step in document["steps"])
    if len(in_session) * nodes > _FULL_RECORDS:
        document |= {"recordCycles": "placement", "recordState": "last"}
    executed = run_trace(trace_from_dict(document))
    for number, (was, actual) in enumerate(zip_longest(in_session, _trace_cycles(executed)), start=1):
        if was != actual:
            wrong = f"{actual or 'nothing'} where {was or 'nothing was done'}"
            earlier = " Begin earlier, or without ?from." if start is not None else ""
            raise HistoryUnavailable(f"The trace would differ from the session: in its cycle {number}, {wrong}.{earlier}")
    return executed if observed else document


def _start(session: Session, event: int) -> Start:
    simulation = replayer.engine_at(session.pk, event, between_units=lambda _: None)
    # A pod that is being bound already has its node. If the trace scheduled it again, the run would differ.
    assumed = {pod.pod: pod.node for pod in simulation.view().cache.pod_states.values() if pod.assumed}
    objects = [codec.to_dict(obj) for obj in simulation.stored_objects()]
    for obj in objects:
        if obj["kind"] == "Pod" and (node := assumed.get(f"{obj['metadata']['namespace']}/{obj['metadata']['name']}")):
            obj["spec"]["nodeName"] = node
    return Start(event=simulation.event, settings=msgspec.to_builtins(simulation.settings), objects=objects)


def _session_cycles(session: Session, after: int, until: int) -> Iterator[_Cycle]:
    moment = reading.last_cycle_until(session.pk, after)
    for summary in reading.each_cycle(session.pk, after=moment):
        if summary.last_event > until:
            return
        yield _Cycle(summary.cycle.pod, summary.cycle.outcome, summary.cycle.node)


def _trace_cycles(document: dict[str, Any]) -> Iterator[_Cycle]:
    for step in document["steps"]:
        observed = step["observed"]
        for cycle in observed.get("cycles") or ([observed["cycle"]] if observed.get("cycle") else []):
            if cycle["outcome"] != "empty":
                yield _Cycle(cycle["pod"], cycle["outcome"], cycle.get("node") or "")
