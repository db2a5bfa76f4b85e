"""Applying a change: the commands that do in a session what a dry run has tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec

from schedviz.engine import Simulation
from schedviz.explain.changes.change import Change, Config
from schedviz.kube import codec
from schedviz.kube.core import Pod, PodStatus
from schedviz.kube.devices import ResourceClaim
from schedviz.kube.kinds import BY_TYPE
from schedviz.kube.meta import KubeObject, ObjectMeta
from schedviz.kube.workloads import PodGroup
from schedviz.trace.commands import AnyCommand, Configure, Create, Delete, Update

replace = msgspec.structs.replace

Metadata = TypeVar("Metadata", bound=ObjectMeta)


def commands_of(simulation: Simulation, pods: Iterable[Pod], changes: Sequence[Change]) -> tuple[AnyCommand, ...]:
    """Changes to the scheduler and to other objects come first, so that they are in place when the pods are tried.

    The spec of an existing pod, claim or pod group cannot be changed: it is deleted and created again, as its author would do.
    """
    made_again = (command for pod in pods for command in _recreate_commands(pod, changes))
    return (*_configuring(simulation, changes), *_around(simulation, changes), *made_again)


def config_with(simulation: Simulation, changes: Sequence[Change]) -> Config | None:
    """The configuration with all changes; None if they do not change it."""
    changed = before = simulation.config or {}
    for change in changes:
        changed = change.of_config(changed)
    return None if changed is before else changed


def _configuring(simulation: Simulation, changes: Sequence[Change]) -> Iterator[AnyCommand]:
    config = config_with(simulation, changes)
    if config is not None:
        yield Configure(config=config)


def _around(simulation: Simulation, changes: Iterable[Change]) -> Iterator[AnyCommand]:
    for change in changes:
        for obj in change.updated:
            stored = simulation.cluster.find(BY_TYPE[type(obj)].name, obj.metadata.key)
            if stored is not None and _must_be_recreated(stored, obj):
                yield _delete(stored)
                yield Create(object=codec.to_dict(replace(obj, metadata=_new(obj.metadata))))
            else:
                yield Create(object=codec.to_dict(obj)) if stored is None else Update(object=codec.to_dict(obj))
        for obj in change.deleted:
            yield _delete(obj)


def _must_be_recreated(stored: KubeObject, obj: KubeObject) -> bool:
    """Whether the object must be deleted and created again, because the change concerns immutable fields."""
    for kind in (ResourceClaim, PodGroup):
        if isinstance(stored, kind) and isinstance(obj, kind):
            return stored.spec != obj.spec
    return False


def _recreate_commands(pod: Pod, changes: Iterable[Change]) -> Iterator[AnyCommand]:
    new_pod = pod
    for change in changes:
        new_pod = change.of_pod(new_pod)
    if new_pod is pod:
        return
    yield _delete(pod)
    yield Create(object=codec.to_dict(replace(new_pod, metadata=_new(new_pod.metadata), status=PodStatus())))


def _new(metadata: Metadata) -> Metadata:
    """The metadata of an object that is created again."""
    return replace(metadata, uid="", resource_version="", creation_timestamp=None)


def _delete(obj: KubeObject) -> Delete:
    return Delete(kind=BY_TYPE[type(obj)].name, name=obj.metadata.name, namespace=obj.metadata.namespace)
