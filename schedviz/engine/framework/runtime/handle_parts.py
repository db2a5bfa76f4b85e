"""`HandleParts`: the parts of a scheduler that the frameworks of its profiles share, and that their plugins may use.

Upstream: framework/runtime/framework.go frameworkOptions
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from schedviz.engine.features import Features
from schedviz.engine.framework.interface import AsyncPreemptions, PreemptionExtender, SharedDRAManager
from schedviz.engine.framework.listers import Client, ObjectLister, PodNominator, SharedLister
from schedviz.engine.framework.pod_groups import NO_POD_GROUPS, PodGroups
from schedviz.engine.framework.preemption.executor import NO_PREEMPTIONS


def _not_in_pre_bind(_uid: str, _message: str) -> bool:
    return False


def _activate_nothing(_keys: Iterable[str]) -> None:
    """Of a framework that belongs to no scheduler."""


def _no_waiting_pods(_uid: str, _plugin: str) -> None:
    """Of a framework that belongs to no scheduler."""


class HandleParts(msgspec.Struct, frozen=True, kw_only=True):
    """The defaults are those of a framework that belongs to no scheduler, as in a test of a plugin."""

    snapshot: SharedLister
    objects: ObjectLister
    nominator: PodNominator
    client: Client
    #: The virtual time in nanoseconds.
    clock: Callable[[], int]
    features: Features
    #: For plugins that draw.
    seed: int = 0
    extenders: Sequence[PreemptionExtender] = ()
    #: v1.36: the pod groups of the cache.
    pod_groups: PodGroups = NO_POD_GROUPS
    #: v1.36: activates pods by their keys.
    activate: Callable[[Iterable[str]], None] = _activate_nothing
    #: v1.36: called when a plugin has allowed a pod (its uid) that waits at Permit.
    permit_allowed: Callable[[str, str], None] = _no_waiting_pods
    #: v1.36: asynchronous preemptions.
    preemptions: AsyncPreemptions = NO_PREEMPTIONS
    #: v1.36: claims and devices; None: the release has no dynamic resource allocation.
    dra_manager: SharedDRAManager | None = None
    #: v1.36: makes a pod's PreBind fail; False if it is not in PreBind.
    cancel_pre_bind: Callable[[str, str], bool] = _not_in_pre_bind
