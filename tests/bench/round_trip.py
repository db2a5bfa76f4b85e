"""The latency from a command sent over the WebSocket to the frame with its last event."""

from __future__ import annotations

import json
import statistics
import time
import zlib
from contextlib import ExitStack

from websockets.sync.client import connect

from tests.bench.report import Figure
from tests.bench.server import Server

STEPS = 200


def steps(server: Server, *, nodes: int) -> list[Figure]:
    """Commands of one cycle, each sent when the frame of the previous one has arrived."""
    session, _ = server.create(json={"generate": {"shape": "basic", "nodes": nodes, "pods": STEPS + 20}})
    url = server.url.replace("http", "ws") + f"/ws/v1/sessions/{session}/"
    taken: list[float] = []
    with connect(url, additional_headers={"Authorization": f"Bearer {server.token}"}, max_size=None, compression=None) as socket:
        _receive_until(socket, "view")
        for index in range(STEPS):
            begin = time.perf_counter()
            command = {"op": "step", "unit": "cycle", "count": 1}
            socket.send(json.dumps({"type": "command", "key": f"bench-{index}", "command": command}))
            _receive_until(socket, "frame")
            if index >= 20:
                taken.append((time.perf_counter() - begin) * 1000)
            time.sleep(0.06)  # Like a person: the hub sends the first frame after 50 ms without one at once.
    cuts = statistics.quantiles(taken, n=100)
    return [Figure(f"command → frame, one cycle, {nodes:,} nodes (p50 / p99)", f"{cuts[49]:.1f} / {cuts[98]:.1f} ms", "p50 < 25 ms")]


def viewers(server: Server, *, nodes: int, many: int = 20) -> list[Figure]:
    """The cost of one more viewer: the time until all viewers have the frame, with one and with many."""
    session, _ = server.create(json={"generate": {"shape": "basic", "nodes": nodes, "pods": STEPS}})
    url = server.url.replace("http", "ws") + f"/ws/v1/sessions/{session}/"
    medians: dict[int, float] = {}
    for count in (1, many):
        with ExitStack() as stack:
            sockets = [
                stack.enter_context(
                    connect(url, additional_headers={"Authorization": f"Bearer {server.token}"}, max_size=None, compression=None)
                )
                for _ in range(count)
            ]
            for socket in sockets:
                _receive_until(socket, "view")
            taken = []
            for index in range(STEPS // 4):
                begin = time.perf_counter()
                command = {"op": "step", "unit": "cycle", "count": 1}
                sockets[0].send(json.dumps({"type": "command", "key": f"viewers-{count}-{index}", "command": command}))
                for socket in sockets:
                    _receive_until(socket, "frame")
                taken.append((time.perf_counter() - begin) * 1000)
                time.sleep(0.06)
            medians[count] = statistics.median(taken)
    more = (medians[many] - medians[1]) / (many - 1)
    return [
        Figure(f"command → frame at the last of {many} viewers (p50); cost of one more viewer", f"{medians[many]:.1f} ms; {more:.2f} ms")
    ]


def _receive_until(socket, kind: str) -> dict:
    while True:
        data = socket.recv(timeout=30)
        message = json.loads(zlib.decompress(data) if isinstance(data, bytes) else data)
        if message["type"] == kind and (kind == "view" or any(event["t"] == "commandDone" for event in message["events"])):
            return message
