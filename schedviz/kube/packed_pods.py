"""Packs many pods as columns: common parts are stored once, individual values per pod.

50,000 pods of 250 Deployments take 125 MB one by one, 15 MB in this form, and 3 MB compressed, and are written in a third of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from schedviz.kube.codec import enc_hook
from schedviz.kube.core import Pod, PodStatus
from schedviz.kube.volumes import Volume

Item = TypeVar("Item", Pod, PodStatus)

_encoder: Final = msgspec.msgpack.Encoder(enc_hook=enc_hook)
#: The volumes of a pod that take more bytes are stored once for all pods that have them.
_INLINE_BYTES: Final = 1024

#: A volume of a kind that the scheduler ignores is represented by its name.
Volumes = tuple[str | Volume, ...]


class PackedPods(msgspec.Struct, frozen=True, array_like=True):
    """Pods in order: every list but the first three and `shared_volumes` has an entry for each pod."""

    #: Pods without their individual values.
    templates: list[Pod]
    statuses: list[PodStatus]
    nodes: list[str]
    template_of: list[int]
    status_of: list[int]
    node_of: list[int]
    names: list[str]
    uids: list[str]
    resource_versions: list[str]
    creation_timestamps: list[str | None]
    #: The volumes, or their number in `shared_volumes`.
    volumes: list[int | Volumes]
    unread: list[str]
    unread_status: list[str]
    #: Long lists of volumes.
    shared_volumes: list[Volumes] = []

    @classmethod
    def of(cls, pods: Sequence[Pod]) -> PackedPods:
        """These pods, packed. Equal pods are packed equally, whether or not they share parts."""
        templates: _Distinct[Pod] = _Distinct()
        statuses: _Distinct[PodStatus] = _Distinct()
        shared_volumes = _SharedVolumes()
        nodes: dict[str, int] = {}
        metadatas = [pod.metadata for pod in pods]
        specs = [pod.spec for pod in pods]
        return cls(
            template_of=[templates.number(_identity(pod), pod, _template) for pod in pods],
            status_of=[statuses.number(id(pod.status), pod, _status) for pod in pods],
            node_of=[nodes.setdefault(spec.node_name, len(nodes)) for spec in specs],
            names=[metadata.name for metadata in metadatas],
            uids=[metadata.uid for metadata in metadatas],
            resource_versions=[metadata.resource_version for metadata in metadatas],
            creation_timestamps=[metadata.creation_timestamp for metadata in metadatas],
            volumes=[shared_volumes.of(spec.volumes) if spec.volumes else () for spec in specs],
            unread=[pod.unread for pod in pods],
            unread_status=[pod.unread_status for pod in pods],
            templates=templates.items,
            statuses=statuses.items,
            nodes=list(nodes),
            shared_volumes=shared_volumes.lists,
        )

    def unpack(self) -> Iterator[Pod]:
        """The pods, which share their common parts."""
        volumes_by_text: dict[str, Volume] = {}

        def volume(short: str | Volume) -> Volume:
            if not isinstance(short, str):
                return short
            return volumes_by_text.get(short) or volumes_by_text.setdefault(short, Volume(name=short))

        shared_volumes = [tuple(map(volume, volumes)) for volumes in self.shared_volumes]

        def volumes_of(stored: int | Volumes) -> tuple[Volume, ...]:
            return shared_volumes[stored] if isinstance(stored, int) else tuple(map(volume, stored))

        parts = [(template.metadata, template.spec) for template in self.templates]
        nodes, statuses = self.nodes, self.statuses
        for number, status, node, name, uid, resource_version, created, volumes, unread, unread_status in zip(
            self.template_of,
            self.status_of,
            self.node_of,
            self.names,
            self.uids,
            self.resource_versions,
            self.creation_timestamps,
            self.volumes,
            self.unread,
            self.unread_status,
            strict=True,
        ):
            metadata, spec = parts[number]
            yield Pod(
                metadata=replace(metadata, name=name, uid=uid, resource_version=resource_version, creation_timestamp=created),
                spec=replace(spec, node_name=nodes[node], volumes=volumes_of(volumes)),
                status=statuses[status],
                unread=unread,
                unread_status=unread_status,
            )


class _Distinct(Generic[Item]):
    """Numbers distinct values. Pods with shared parts are compared by the identity of these, all others by value."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self._by_identity: dict[object, int] = {}
        self._by_value: dict[bytes, int] = {}

    def number(self, identity: object, pod: Pod, make: Callable[[Pod], Item]) -> int:
        number = self._by_identity.get(identity)
        if number is None:
            item = make(pod)
            number = self._by_identity[identity] = self._by_value.setdefault(_encoder.encode(item), len(self.items))
            if number == len(self.items):
                self.items.append(item)
        return number


class _SharedVolumes:
    """The long lists of volumes, each once."""

    def __init__(self) -> None:
        self.lists: list[Volumes] = []
        #: By the identity of a pod's volumes, which exist as long as the pods.
        self._by_identity: dict[int, int | Volumes] = {}
        self._by_value: dict[bytes, int] = {}

    def of(self, volumes: tuple[Volume, ...]) -> int | Volumes:
        """The volumes as they are stored: a number if they are long."""
        stored = self._by_identity.get(id(volumes))
        if stored is None:
            stored = self._by_identity[id(volumes)] = self._stored(tuple(map(_short, volumes)))
        return stored

    def _stored(self, short: Volumes) -> int | Volumes:
        encoded = _encoder.encode(short)
        if len(encoded) <= _INLINE_BYTES:
            return short
        number = self._by_value.setdefault(encoded, len(self.lists))
        if number == len(self.lists):
            self.lists.append(short)
        return number


def _identity(pod: Pod) -> tuple[object, ...]:
    """The identities of the parts of a template. Valid while the pod exists."""
    metadata, spec = pod.metadata, pod.spec
    return (
        metadata.namespace,
        metadata.generate_name,
        id(metadata.labels),
        id(metadata.annotations),
        metadata.unread_annotations,
        metadata.deletion_timestamp,
        metadata.deletion_grace_period_seconds,
        id(metadata.owner_references),
        id(spec.containers),
        id(spec.init_containers),
        id(spec.overhead),
        id(spec.node_selector),
        id(spec.affinity),
        id(spec.tolerations),
        id(spec.topology_spread_constraints),
        spec.scheduler_name,
        spec.priority,
        spec.priority_class_name,
        spec.preemption_policy,
        id(spec.scheduling_gates),
        spec.host_network,
        spec.termination_grace_period_seconds,
        spec.host_users,
        id(spec.resource_claims),
        id(spec.resources),
        id(spec.scheduling_group),
    )


def _template(pod: Pod) -> Pod:
    return Pod(
        metadata=replace(pod.metadata, name="", uid="", resource_version="", creation_timestamp=None),
        spec=replace(pod.spec, node_name="", volumes=()),
    )


def _status(pod: Pod) -> PodStatus:
    return pod.status


def _short(volume: Volume) -> str | Volume:
    return volume.name if volume == Volume(name=volume.name) else volume
