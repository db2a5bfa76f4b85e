"""The base of an experiment: what the trials have in common, loaded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from schedviz.engine import PODS_PER_SYNC, SimulationSettings, settings_of
from schedviz.experiments.errors import PlanError
from schedviz.experiments.plans.plan import Base, Plan, Workload
from schedviz.ingest.errors import IngestError
from schedviz.ingest.files.source import Source, files_of
from schedviz.ingest.generate import GenerateSpec, generate
from schedviz.ingest.load import Import, load
from schedviz.ingest.reader import Item
from schedviz.ingest.trace_file import TraceFile
from schedviz.kube.core import Node, Pod
from schedviz.kube.meta import KubeObject
from schedviz.kube.packed import pack, unpack
from schedviz.trace.commands import AnyCommand


class BaseCluster(msgspec.Struct, frozen=True):
    """The objects that every trial starts from, nodes before pods, and the commands that run before scheduling starts."""

    objects: list[KubeObject]
    #: Engine settings that the files, the trace or the session define. Variants override them.
    settings: SimulationSettings
    #: The steps of a trace.
    commands: list[AnyCommand] = []
    #: Pods of the files that have finished. They belong to no trial; lifetimes can be drawn from theirs.
    finished: list[Pod] = []

    @property
    def pending(self) -> int:
        """The number of pods without a node."""
        return sum(map(is_pending, self.objects))

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return sum(isinstance(obj, Node) for obj in self.objects)

    def pack(self) -> bytes:
        """The base as bytes, for other processes."""
        return _encoder.encode(_Packed(pack(self.objects), self.settings, self.commands, pack(self.finished)))

    @classmethod
    def unpack(cls, data: bytes) -> BaseCluster:
        """The base from the bytes of `pack`."""
        packed = _decoder.decode(data)
        finished = [obj for obj in unpack(packed.finished) if isinstance(obj, Pod)] if packed.finished else []
        return cls(unpack(packed.objects), packed.settings, packed.commands, finished)


class _Packed(msgspec.Struct, frozen=True):
    objects: bytes
    settings: SimulationSettings
    commands: list[AnyCommand]
    #: Empty in bases that older versions stored.
    finished: bytes = b""


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Packed)

#: Loads the base of a session: its ID, and the event or None.
SessionLoader = Callable[[str, int | None], BaseCluster]


def no_sessions(_session: str, _event: int | None) -> BaseCluster:
    """A `SessionLoader` for use without a server: always raises `PlanError`."""
    message = "a session can be the base of an experiment on a server; export it with `schedviz export` and name the file instead"
    raise PlanError.of("base.session", message)


def load_base(plan: Plan, folder: Path, *, session: SessionLoader = no_sessions) -> BaseCluster:
    """The base of a plan with its workload. Paths are relative to `folder`. Raises `PlanError`."""
    base = _load_cluster(plan.base, folder, session)
    return _with_workload(base, plan.workload, folder)


def _load_cluster(base: Base, folder: Path, session: SessionLoader) -> BaseCluster:
    if base.session is not None:
        return session(base.session, base.event)
    if base.generate is not None:
        return BaseCluster(_generated(base.generate, "base.generate"), SimulationSettings(pods_per_sync=PODS_PER_SYNC))
    finished: list[Pod] = []
    found = _loaded(base.files or [], folder, "base.files", finished)
    if found.trace is not None:
        return BaseCluster(list(found.objects), settings_of(found.trace), _commands(found.trace), finished)
    settings = SimulationSettings(config=found.config, pods_per_sync=PODS_PER_SYNC, release=found.evidence.suggested)
    return BaseCluster(list(found.objects), settings, finished=finished)


def _with_workload(base: BaseCluster, workload: Workload, folder: Path) -> BaseCluster:
    objects = list((with_unbound_pods(base) if workload.unbind else base).objects)
    if not workload.pending:
        objects = [obj for obj in objects if not isinstance(obj, Pod) or obj.spec.node_name]
    commands = list(base.commands)
    added: list[KubeObject] = []
    if workload.generate is not None:
        added += _generated(workload.generate, "workload.generate")
    if workload.files is not None:
        found = _loaded(workload.files, folder, "workload.files", [])
        added += found.objects
        if found.trace is not None:
            commands += _commands(found.trace)
    existing = {(type(obj), obj.key) for obj in objects}
    for obj in added:
        if isinstance(obj, Node):
            continue
        if isinstance(obj, Pod) and (Pod, obj.key) in existing:
            raise PlanError.of("workload", f"the base already has a pod {obj.key}")
        if (type(obj), obj.key) not in existing:
            objects.append(unbound(obj) if isinstance(obj, Pod) else obj)
    if not any(map(is_pending, objects)) and not commands:
        message = "there are no pods to schedule: no pod of the base is pending, and the workload adds none"
        raise PlanError.of("workload", message)
    if workload.priority is not None:
        objects = [_with_priority(obj, workload.priority) for obj in objects]
    return msgspec.structs.replace(base, objects=objects, commands=commands)


def is_pending(obj: KubeObject) -> bool:
    """Whether it is a pod without a node, which belongs to the workload."""
    return isinstance(obj, Pod) and not obj.spec.node_name


def with_unbound_pods(base: BaseCluster) -> BaseCluster:
    """The base with all pods pending, except those of DaemonSets."""
    return msgspec.structs.replace(base, objects=[_unbound(obj) for obj in base.objects])


def unbound(pod: Pod) -> Pod:
    """The pod without its node and status, as it was before it was scheduled."""
    spec = msgspec.structs.replace(pod.spec, node_name="")
    return msgspec.structs.replace(pod, spec=spec, status=type(pod.status)())


def _unbound(obj: KubeObject) -> KubeObject:
    return unbound(obj) if isinstance(obj, Pod) and obj.spec.node_name and not obj.is_of_daemon_set else obj


def _with_priority(obj: KubeObject, priority: int) -> KubeObject:
    if not isinstance(obj, Pod) or obj.spec.node_name:
        return obj
    return msgspec.structs.replace(obj, spec=msgspec.structs.replace(obj.spec, priority=priority))


def _generated(spec: GenerateSpec, path: str) -> list[KubeObject]:
    try:
        return generate(spec)
    except IngestError as error:
        raise PlanError.of(path, str(error).removeprefix("generate.")) from None


def _loaded(files: Sequence[str], folder: Path, path: str, finished: list[Pod]) -> Import:
    """What is in the files. Finished pods are left out of it, and added to `finished`."""

    def collect_finished(_item: Item, obj: KubeObject) -> None:
        if isinstance(obj, Pod) and obj.is_finished:
            finished.append(obj)

    try:
        sources = [source for index, name in enumerate(files) for source in _sources(folder / name, f"{path}[{index}]")]
        return load(sources, on_object=collect_finished)
    except IngestError as error:
        raise PlanError.of(path, str(error)) from None
    except OSError as error:
        raise PlanError.of(path, f"{error.filename}: {error.strerror}") from None


def _sources(file: Path, path: str) -> list[Source]:
    if not file.exists():
        raise PlanError.of(path, f"there is no file {file}")
    sources = list(files_of([file]))
    if not sources:
        raise PlanError.of(path, f"no file in {file} has a name that suggests objects")
    return sources


def _commands(trace: TraceFile) -> list[AnyCommand]:
    return [step for step in trace.steps if isinstance(step, AnyCommand)]
