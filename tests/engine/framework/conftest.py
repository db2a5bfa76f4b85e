"""A small cluster for tests of plugins: a real cache, snapshot and framework, without a scheduler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

from schedviz.engine.cache import Snapshot
from schedviz.engine.config import load_configuration
from schedviz.engine.features import features_of
from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.plugins.dynamicresources.dra_manager import DRAManager
from schedviz.engine.framework.runtime import FilterOutcome, Framework, HandleParts, PreFilterOutcome, Registry, ScoreOutcome
from schedviz.engine.framework.status import StatusError
from schedviz.engine.framework.types import ClusterEvent, PodInfo, QueueingHint
from schedviz.engine.release import Release
from schedviz.engine.releases.v1_27 import RELEASE as V1_27
from schedviz.engine.releases.v1_36 import RELEASE as V1_36
from schedviz.kube.codec import from_dict
from schedviz.kube.core import Node, Pod, PodCondition
from schedviz.kube.defaults import default_object
from schedviz.kube.devices import ResourceClaim
from schedviz.kube.meta import KubeObject
from schedviz.trace.recorder import Recorder


class Objects:
    """The informers' objects."""

    def __init__(self) -> None:
        self.by_key: dict[tuple[str, str, str], KubeObject] = {}

    def add(self, obj: KubeObject) -> None:
        self.by_key[type(obj).__name__, obj.namespace, obj.name] = obj

    def knows(self, kind: str) -> bool:
        return any(key[0] == kind for key in self.by_key)

    def get(self, kind: str, namespace: str, name: str) -> Any | None:
        return self.by_key.get((kind, namespace, name))

    def list(self, kind: str, namespace: str | None = None) -> Sequence[Any]:
        return [obj for key, obj in sorted(self.by_key.items()) if key[0] == kind and namespace in (None, key[1])]


class Nominations:
    """Nominated pods by node."""

    def __init__(self) -> None:
        self.pods: dict[str, list[PodInfo]] = {}

    def nominated_pods_for_node(self, node_name: str) -> Sequence[PodInfo]:
        return self.pods.get(node_name, [])

    def nominated_node_names(self) -> Sequence[str]:
        return list(self.pods)


class ApiServer:
    """Accepts writes, or refuses them with `error`."""

    def __init__(self) -> None:
        self.bound: list[tuple[str, str]] = []
        self.cleared: list[str] = []
        self.updated: list[KubeObject] = []
        self.writes: list[tuple[str, str, str]] = []
        self.error: StatusError | None = None

    def bind(self, pod: PodInfo, node_name: str) -> StatusError | None:
        self.bound.append((pod.key, node_name))
        return self.error

    def update(self, obj: Any) -> Any:
        if self.error is not None:
            return self.error
        self.updated.append(obj)
        version = str(int(obj.metadata.resource_version) + 1)
        return msgspec.structs.replace(obj, metadata=msgspec.structs.replace(obj.metadata, resource_version=version))

    def clear_nominated_node_name(self, pod: Pod) -> StatusError | None:
        self.cleared.append(pod.key)
        return None

    def apply_condition(self, pod: Pod, condition: PodCondition) -> StatusError | None:
        self.writes.append(("patch", pod.key, condition.type))
        return None

    def delete_pod(self, pod: Pod) -> StatusError | None:
        self.writes.append(("delete", pod.key, ""))
        return self.error

    def record_event(self, pod: Pod, *, note: str, **_rest: str) -> None:
        self.writes.append(("event", pod.key, note))


class World:
    """Nodes and pods by their JSON, and the framework of one profile over a snapshot of them."""

    def __init__(self, release: Release = V1_27, gates: Mapping[str, bool] | None = None) -> None:
        self.release = release
        self.features = features_of(release.gates, gates or {})
        self.pod_info = release.pod_info(self.features)
        self.cache = release.make_cache(Recorder(), self.pod_info, ttl_seconds=0, features=self.features)
        self.snapshot = Snapshot()
        self.objects = Objects()
        self.nominations = Nominations()
        self.api = ApiServer()
        self.now = 0
        self.dra_manager = DRAManager(self.objects, self.features)
        self._frameworks: list[Framework] = []

    def framework(self, config: dict[str, Any] | None = None, registry: Registry | None = None, **parts: Any) -> Framework:
        framework = self.release.framework(
            registry or self.release.in_tree_registry(),
            load_configuration(config, release=self.release.version, features=self.features).profiles[0],
            HandleParts(
                snapshot=self.snapshot,
                objects=self.objects,
                nominator=self.nominations,
                client=self.api,
                clock=lambda: self.now,
                features=self.features,
                dra_manager=self.dra_manager,
                **parts,
            ),
        )
        self._frameworks.append(framework)
        for obj in self.objects.by_key.values():
            framework.object_changed(type(obj).__name__, "ADDED", obj)
        return framework

    def node(
        self, name: str, allocatable: Mapping[str, str] | None = None, *, labels: Mapping[str, str] | None = None, **rest: Any
    ) -> Node:
        amounts = {"cpu": "4", "memory": "8Gi", "pods": "110", **(allocatable or {})}
        status = {"allocatable": amounts, "capacity": amounts, "images": rest.pop("images", [])}
        metadata = {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}}
        node = default_object(
            from_dict({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": rest, "status": status}, strict=True)
        )
        assert isinstance(node, Node)
        self.cache.add_node(node)
        self.objects.add(node)
        return node

    def pod(
        self, name: str, requests: Mapping[str, str] | None = None, *, on: str = "", labels: Mapping[str, str] | None = None, **spec: Any
    ) -> PodInfo:
        """A pod; `on` puts it on a node."""
        container = {"name": "c", "image": spec.pop("image", "app"), "resources": {"requests": dict(requests or {})}}
        if ports := spec.pop("ports", None):
            container["ports"] = ports
        metadata = {"name": name, "namespace": spec.pop("namespace", "default"), "uid": f"uid-{name}", "labels": dict(labels or {})}
        metadata.update(spec.pop("metadata", {}))
        status = spec.pop("status", {})
        body = {"containers": [container], "nodeName": on, **spec}
        data = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": body, "status": status}
        pod = default_object(from_dict(data, strict=True))
        assert isinstance(pod, Pod)
        info = self.pod_info(pod)
        self.objects.add(pod)
        if on:
            self.cache.add_pod(info)
        return info

    def object(self, data: dict[str, Any]) -> KubeObject:
        """An object, or a newer version of it, which informers receive."""
        obj = default_object(from_dict(data, strict=True))
        before = self.objects.get(type(obj).__name__, obj.namespace, obj.name)
        if isinstance(obj, ResourceClaim):
            version = str(1 + (0 if before is None else int(before.metadata.resource_version)))
            obj = msgspec.structs.replace(obj, metadata=msgspec.structs.replace(obj.metadata, resource_version=version))
        self.objects.add(obj)
        self.dra_manager.object_changed(before, obj)
        for framework in self._frameworks:
            framework.object_changed(type(obj).__name__, "ADDED", obj)
        return obj

    def hint(
        self,
        plugin: str,
        event: ClusterEvent,
        pod: PodInfo,
        *,
        old: KubeObject | PodInfo | None = None,
        new: KubeObject | PodInfo | None = None,
        config: dict[str, Any] | None = None,
    ) -> QueueingHint | None:
        """The plugin's hint about an event, for a pod that it rejected; None: it has not registered for the event."""
        before, after = (obj.pod if isinstance(obj, PodInfo) else obj for obj in (old, new))
        for registered in self.framework(config).registered_events().get(plugin, ()):
            if registered.event.resource == event.resource and registered.event.action_type & event.action_type:
                ask = registered.queueing_hint_fn
                return QueueingHint.QUEUE if ask is None else ask(pod, before, after)
        return None

    def update(self) -> None:
        self.cache.update_snapshot(self.snapshot)

    def filter(self, framework: Framework, pod: PodInfo, want: int = 1000) -> tuple[PreFilterOutcome, FilterOutcome, CycleState]:
        self.update()
        state = CycleState()
        pre = framework.run_pre_filter_plugins(state, pod)
        assert pre.status.is_success, pre.status
        return pre, framework.filter_rows(state, pod, self.snapshot.rows(), want), state

    def rejections(self, framework: Framework, pod: PodInfo) -> dict[str, tuple[str, str, tuple[str, ...]]]:
        """Node -> plugin, code, reasons."""
        _, outcome, _ = self.filter(framework, pod)
        return {name: (status.failed_plugin, status.code.value, status.reasons) for name, status in outcome.node_to_status().items()}

    def score(self, framework: Framework, pod: PodInfo) -> ScoreOutcome:
        """The scores of all feasible nodes."""
        _, outcome, state = self.filter(framework, pod)
        rows = self.snapshot.rows().take(outcome.feasible)
        run = framework.run_pre_score_plugins(state, pod, rows)
        assert run.status.is_success, run.status
        return framework.run_score_plugins(state, pod, rows)

    def scores_of(self, framework: Framework, pod: PodInfo, plugin: str, kind: str = "raw") -> dict[str, int]:
        """Node -> the scores of one plugin."""
        outcome = self.score(framework, pod)
        assert outcome.status.is_success, outcome.status
        scores = next(entry for entry in outcome.plugins if entry.name == plugin)
        values: np.ndarray[Any, Any] = getattr(scores, kind)
        _, filtered, _ = self.filter(framework, pod)
        names = self.snapshot.rows().take(filtered.feasible).names
        return dict(zip(names, values.tolist(), strict=True))


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def world_of_v1_36() -> World:
    return World(V1_36)


@pytest.fixture
def v1_36_with_gates() -> Callable[..., World]:
    """Makes a cluster of v1.36 with some feature gates changed."""
    return lambda **gates: World(V1_36, gates)
