"""The cost of a frame in clusters of different sizes: its bytes on the wire, and the time to encode it. One step each."""

from __future__ import annotations

import os
import statistics
from uuid import UUID

import django
import msgspec

from schedviz.cli.bench.measure import Run, calibrate, clock
from schedviz.cli.bench.workloads import WORKLOADS

_STEPS = 100


class FrameRow(msgspec.Struct, frozen=True):
    """The frame of one cycle."""

    nodes: int
    #: Compressed, as it is stored and sent, and as JSON.
    bytes_p50: float
    json_bytes_p50: float
    #: The time from events to the compressed frame.
    encode_ms_p50: float
    calibration_ms: float


def frames(nodes: int) -> FrameRow:
    """Step through the basic workload, and encode a frame of every step."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")
    django.setup()
    from schedviz.sessions.frames import SessionState, frame
    from schedviz.trace.commands import Step
    from schedviz.trace.events import encode_events

    run = Run(WORKLOADS["basic"], nodes=nodes, pods=_STEPS + 20, every_node=True, recording="summary")
    for _ in range(20):
        run.cycle()
    session = SessionState(str(UUID(int=1)), "bench", "ready", "", None, 0.0, 0, 0, 0, 0, 0)
    sizes: list[int] = []
    texts: list[int] = []
    taken: list[float] = []
    for number in range(_STEPS):
        simulation = run.simulation
        simulation.start(Step(unit="cycle", count=1))
        simulation.work()
        events = simulation.drain_events()
        begin = clock()
        made = frame(number, events, session)
        taken.append((clock() - begin) * 1000)
        sizes.append(len(made))
        texts.append(len(encode_events(events)))
    return FrameRow(
        nodes=nodes,
        bytes_p50=statistics.median(sizes),
        json_bytes_p50=statistics.median(texts),
        encode_ms_p50=round(statistics.median(taken), 3),
        calibration_ms=round(calibrate(pods=300) * 1000, 4),
    )
