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
    made_again = (command for pod in pods for command in _made_again(pod, changes))
    return (*_configuring(simulation, changes), *_around(simulation, changes), *made_again)


def config_with(simulation: Simulation, changes: Sequence[Change]) -> Config | None:
    """The configuration with all changes; None if they do not change it."""
    wanted = before = simulation.config or {}
    for change in changes:
        wanted = change.of_config(wanted)
    return None if wanted is before else wanted


def _configuring(simulation: Simulation, changes: Sequence[Change]) -> Iterator[AnyCommand]:
    config = config_with(simulation, changes)
    if config is not None:
        yield Configure(config=config)


def _around(simulation: Simulation, changes: Iterable[Change]) -> Iterator[AnyCommand]:
    for change in changes:
        for obj in change.updated:
            known = simulation.cluster.find(BY_TYPE[type(obj)].name, obj.metadata.key)
            if known is not None and _differs_for_ever(known, obj):
                yield _delete(known)
                yield Create(object=codec.to_dict(replace(obj, metadata=_new(obj.metadata))))
            else:
                yield Create(object=codec.to_dict(obj)) if known is None else Update(object=codec.to_dict(obj))
        for obj in change.deleted:
            yield _delete(obj)


def _differs_for_ever(known: KubeObject, obj: KubeObject) -> bool:
    """Whether an object has to be created again, because its spec cannot be changed."""
    for kind in (ResourceClaim, PodGroup):
        if isinstance(known, kind) and isinstance(obj, kind):
            return known.spec != obj.spec
    return False


def _made_again(pod: Pod, changes: Iterable[Change]) -> Iterator[AnyCommand]:
    wanted = pod
    for change in changes:
        wanted = change.of_pod(wanted)
    if wanted is pod:
        return
    yield _delete(pod)
    yield Create(object=codec.to_dict(replace(wanted, metadata=_new(wanted.metadata), status=PodStatus())))


def _new(metadata: Metadata) -> Metadata:
    """The metadata of an object that is created again."""
    return replace(metadata, uid="", resource_version="", creation_timestamp=None)


def _delete(obj: KubeObject) -> Delete:
    return Delete(kind=BY_TYPE[type(obj)].name, name=obj.metadata.name, namespace=obj.metadata.namespace)
