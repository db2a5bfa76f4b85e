"""Records sessions for the tests of the front end's model: a view, the events after it, and the engine's own state after them.

    python -m frontend.tests.record [FOLDER [TRACE...]]

One file for each scenario, in `frontend/tests/recordings/`, or in another folder; or one for each schedviz-trace/1 file that is named,
with the state after each of its commands. The engine is the real one.
"""

from __future__ import annotations

import lzma
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from schedviz.engine import Simulation, SimulationSettings, settings_of
from schedviz.ingest.generate import GenerateSpec, generate
from schedviz.ingest.trace_file import decode_trace
from schedviz.trace import commands as ask
from schedviz.trace.releases import V1_27, V1_36
from schedviz.trace.view import View

FOLDER = Path(__file__).parent / "recordings"
VIEW_DECODER = msgspec.json.Decoder(View)


def pod(name: str, cpu: str, **spec: Any) -> dict[str, Any]:
    """A pending pod with one container."""
    container = {"name": "c", "image": "registry.example/app:1", "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container], **spec}}


def node(name: str, zone: str, cpu: str = "4", **spec: Any) -> dict[str, Any]:
    """A node in a zone."""
    labels = {"topology.kubernetes.io/zone": zone, "kubernetes.io/hostname": name}
    images = [{"names": ["registry.example/app:1"], "sizeBytes": 50_000_000}]
    allocatable = {"cpu": cpu, "memory": "8Gi", "pods": "20"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": {"allocatable": allocatable, "capacity": allocatable, "images": images},
    }


def everyday(simulation: Simulation) -> list[ask.AnyCommand]:
    """A generated cluster, stepped in every unit and run."""
    simulation.load(generate(GenerateSpec(shape="demo")))
    units = [ask.Step(unit=unit) for unit in ("mutation", "stage", "stage", "cycle", "cycle")]
    return [*units, ask.Run(max=20), ask.Advance(seconds=12), ask.Run(max=20)]


def changes(_: Simulation) -> list[ask.AnyCommand]:
    """Nodes come, change zone, go and leave ghosts; pods are assumed, forgotten, deleted; the scheduler restarts."""
    return [
        *(ask.Create(object=node(f"node{i}", f"z{i % 2}")) for i in range(1, 5)),
        *(ask.Create(object=pod(f"web-{i}", "500m")) for i in range(6)),
        ask.Schedule(),
        ask.Schedule(),
        ask.Bind(),
        ask.Confirm(),
        ask.BindFail(message="no answer"),
        ask.Cycle(),
        ask.Cycle(),
        ask.Snapshot(),
        ask.Update(object=node("node2", "z3", unschedulable=True)),
        ask.Delete(kind="Node", name="node1"),
        ask.Delete(kind="Node", name="node3"),
        ask.Create(object=node("node1", "z0")),
        ask.Create(object=pod("huge", "64")),
        ask.Create(object=pod("gated", "1", schedulingGates=[{"name": "example.com/wait"}])),
        ask.Create(object=pod("urgent", "1", priority=1000)),
        ask.Run(max=20),
        ask.Advance(seconds=3),
        ask.Latency(kind="*", seconds=2.0),
        ask.Create(object=node("node9", "z1", cpu="128")),
        ask.Advance(to="next"),
        ask.Run(max=20),
        ask.Delete(kind="Pod", name="web-0"),
        ask.Advance(seconds=310),
        ask.Restart(),
        ask.Run(max=5),
    ]


def crowded(simulation: Simulation) -> list[ask.AnyCommand]:
    """Pods that cannot fit wait in backoffQ and unschedulablePods, and are moved."""
    simulation.load(generate(GenerateSpec(shape="mixed", nodes=8, pods=40)))
    return [ask.Run(max=100), ask.Advance(seconds=5), ask.Run(max=40), ask.Create(object=node("spare", "z9", cpu="32")), ask.Run(max=60)]


def configured(_: Simulation) -> list[ask.AnyCommand]:
    """A pod waits at Permit until it is allowed, another is rejected; backoffs change between cycles, profiles with a restart."""
    rules = [{"point": "permit", "code": "Wait", "delaySeconds": 60}]
    plugins = {"multiPoint": {"enabled": [{"name": "Scripted"}]}}
    waits = {"profiles": [{"plugins": plugins, "pluginConfig": [{"name": "Scripted", "args": {"rules": rules}}]}]}
    return [
        ask.Create(object=node("node1", "z0")),
        *(ask.Create(object=pod(name, "3")) for name in ("first", "second", "third", "fourth")),
        ask.Create(object=pod("other", "1", schedulerName="batch")),
        ask.Configure(config=waits),
        ask.Cycle(),
        ask.Permit(pod="default/first", action="reject"),
        ask.Cycle(),
        ask.Schedule(),
        ask.Permit(pod="default/second", action="allow"),
        ask.Run(max=20),
        ask.Create(object=node("node2", "z1", cpu="1")),
        ask.Configure(config={"podInitialBackoffSeconds": 4, "podMaxBackoffSeconds": 4}),
        ask.Configure(config={"profiles": [{"schedulerName": "batch"}]}),
        ask.Run(max=20),
        ask.Configure(config=None, restart=True),
        ask.Run(max=20),
    ]


def hinted(_: Simulation) -> list[ask.AnyCommand]:
    """v1.36: hints leave pods or move them, events arrive while pods are in flight, bindings fail, victims are evicted beside cycles."""
    return [
        *(ask.Create(object=node(f"node{i}", f"z{i % 2}")) for i in range(1, 4)),
        *(ask.Create(object=pod(f"web-{i}", "1500m")) for i in range(6)),
        ask.Create(object=pod("gated", "1", schedulingGates=[{"name": "example.com/wait"}])),
        ask.Create(object=pod("huge", "64")),
        ask.Schedule(),
        ask.Schedule(during=[ask.Create(object=node("late", "z1"))]),
        ask.BindFail(message="no answer"),
        ask.Bind(),
        ask.Confirm(),
        ask.Run(max=20),
        ask.Create(object=pod("urgent", "4", priority=1000)),
        ask.Run(max=5),
        ask.Update(object=node("node2", "z3", unschedulable=True)),
        ask.Delete(kind="Pod", name="web-0"),
        ask.Advance(seconds=3),
        ask.Run(max=20),
        ask.Advance(seconds=310),
        ask.Create(object=node("large", "z1", cpu="128")),
        ask.Run(max=20),
        ask.Restart(),
        ask.Run(max=5),
    ]


def preempting(_: Simulation) -> list[ask.AnyCommand]:
    """v1.36: preemptions and API calls wait for commands; one ends with an error, and the scheduler restarts while another is held."""
    low = [ask.Create(object=pod(f"low-{i}", "1500m", nodeName=f"node{1 + i % 2}", priority=i)) for i in range(4)]
    return [
        *(ask.Create(object=node(f"node{i}", "z0")) for i in (1, 2)),
        *low,
        *(ask.Create(object=pod(f"high-{i}", "3", priority=1000)) for i in range(2)),
        ask.Cycle(),
        ask.Cycle(),
        ask.Dispatch(),
        ask.Preempt(fail="etcdserver: request timed out"),
        ask.Preempt(),
        ask.Cycle(),
        ask.Dispatch(),
        ask.Create(object=pod("huge", "64")),
        ask.Run(max=5),
        ask.Create(object=pod("last", "3", priority=2000)),
        ask.Run(max=5),
        ask.Restart(),
        ask.Cycle(),
    ]


def grouped(_: Simulation) -> list[ask.AnyCommand]:
    """v1.36 with pod groups: a gang waits for its pods, does not fit, fits, gets more pods; the last cycle ends between two stages."""
    group = {"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "metadata": {"name": "gang"}}
    gang = group | {"spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}}
    member = {"schedulingGroup": {"podGroupName": "gang"}}
    return [
        ask.Create(object=node("node1", "z0", cpu="2")),
        *(ask.Create(object=pod(f"member-{i}", "1", **member)) for i in range(2)),
        ask.Create(object=gang),
        ask.Create(object=pod("member-2", "1", **member)),
        ask.Run(max=5),
        ask.Create(object=node("node2", "z1")),
        ask.Advance(seconds=5),
        ask.Schedule(),
        ask.Bind(),
        ask.Confirm(),
        ask.Bind(),
        ask.Bind(),
        ask.Confirm(),
        ask.Confirm(),
        ask.Create(object=pod("alone", "500m")),
        ask.Run(max=5),
        *(ask.Create(object=pod(f"later-{i}", "500m", **member)) for i in range(3)),
        ask.Step(unit="stage", count=22),
    ]


SCENARIOS: dict[str, Callable[[Simulation], list[ask.AnyCommand]]] = {
    "everyday": everyday,
    "changes": changes,
    "crowded": crowded,
    "configured": configured,
    "hinted": hinted,
    "preempting": preempting,
    "grouped": grouped,
}
#: The others are of v1.27.1.
_OF_V1_36: dict[str, dict[str, Any]] = {
    "hinted": {},
    "preempting": {"hold_preemption": True, "hold_dispatch": True, "feature_gates": {"SchedulerAsyncAPICalls": True}},
    "grouped": {"feature_gates": {"GenericWorkload": True, "GangScheduling": True}},
}


def record(name: str) -> bytes:
    """One recording as JSON."""
    of_v1_36 = {"release": V1_36, "records_preemptions": True, **_OF_V1_36[name]} if name in _OF_V1_36 else {"release": V1_27}
    settings = SimulationSettings(**of_v1_36)
    simulation = Simulation(settings)
    return _recording(simulation, SCENARIOS[name](simulation), every_state=False)


def record_trace(path: Path) -> bytes:
    """A recording of a schedviz-trace/1 file, with the state after each command."""
    trace = decode_trace(lzma.decompress(path.read_bytes()))
    script = [step for step in trace.steps if isinstance(step, ask.AnyCommand)]  # without `dump`
    return _recording(Simulation(settings_of(trace)), script, every_state=True)


def _recording(simulation: Simulation, script: Iterable[ask.AnyCommand], *, every_state: bool) -> bytes:
    before = msgspec.json.encode(simulation.view())
    VIEW_DECODER.decode(before)
    events: list[Any] = []
    states: list[dict[str, Any]] = []
    for number, command in enumerate(script, start=1):
        simulation.start(command, seq=number)
        simulation.work()
        events += simulation.drain_events()
        if every_state:
            states.append({"event": simulation.event, "state": msgspec.Raw(msgspec.json.encode(simulation.observed_state()))})
    after = msgspec.json.encode({"view": simulation.view(), "state": simulation.observed_state()})
    recording = {"view": msgspec.Raw(before), "events": events, "after": msgspec.Raw(after), "release": simulation.release.version}
    if every_state:
        recording["states"] = states
    return msgspec.json.encode(recording, order="deterministic") + b"\n"


def main(folder: Path = FOLDER, *traces: Path) -> int:
    """Write every scenario, or every trace."""
    folder.mkdir(parents=True, exist_ok=True)
    for trace in traces:
        (folder / f"{trace.name.removesuffix('.json.xz')}.json").write_bytes(record_trace(trace))
    if not traces:
        for name in SCENARIOS:
            (folder / f"{name}.json").write_bytes(record(name))
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
