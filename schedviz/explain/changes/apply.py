"""Applying a change: the commands that do in a session what a dry run has tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from schedviz.engine import Simulation
from schedviz.explain.changes.change import Change, Config
from schedviz.kube import codec
from schedviz.kube.core import Pod, PodStatus
from schedviz.kube.kinds import BY_TYPE
from schedviz.kube.meta import KubeObject
from schedviz.trace.commands import AnyCommand, Configure, Create, Delete, Update

replace = msgspec.structs.replace


def commands_of(simulation: Simulation, pod: Pod, changes: Sequence[Change]) -> tuple[AnyCommand, ...]:
    """Changes to the scheduler and to other objects come first, so that they are in place when the pod is tried.

    The spec of an existing pod cannot be changed: the pod is deleted and created from another template, as its author would do.
    """
    return (*_configuring(simulation, changes), *_around(simulation, changes), *_made_again(pod, changes))


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
            known = simulation.cluster.find(BY_TYPE[type(obj)].name, obj.metadata.key) is not None
            yield Update(object=codec.to_dict(obj)) if known else Create(object=codec.to_dict(obj))
        for obj in change.deleted:
            yield _delete(obj)


def _made_again(pod: Pod, changes: Iterable[Change]) -> Iterator[AnyCommand]:
    wanted = pod
    for change in changes:
        wanted = change.of_pod(wanted)
    if wanted is pod:
        return
    metadata = replace(wanted.metadata, uid="", resource_version="", creation_timestamp=None)
    yield _delete(pod)
    yield Create(object=codec.to_dict(replace(wanted, metadata=metadata, status=PodStatus())))


def _delete(obj: KubeObject) -> Delete:
    return Delete(kind=BY_TYPE[type(obj)].name, name=obj.metadata.name, namespace=obj.metadata.namespace)
