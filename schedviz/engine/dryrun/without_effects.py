"""Runs plugins that evict pods and write objects without these effects: only their results are used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from schedviz.engine.framework.interface import PreemptionExtender
from schedviz.engine.framework.listers import StorageObject
from schedviz.engine.framework.preemption.preemptor import Preemptor
from schedviz.engine.framework.runtime import Framework, WaitingPods
from schedviz.engine.framework.status import StatusError
from schedviz.engine.framework.types import PodInfo
from schedviz.kube.core import Pod, PodCondition, PodExtendedResourceClaimStatus
from schedviz.kube.devices import ResourceClaim


@contextmanager
def without_effects(framework: Framework, extenders: Sequence[PreemptionExtender] = ()) -> Iterator[None]:
    """Until the `with` ends, writes of the profile's plugins succeed and change nothing, no preemption starts, and only these extenders
    are asked.
    """
    before = framework.client, framework.preemptions, framework.waiting_pods, framework.cancel_pre_bind, framework.extenders
    framework.client, framework.preemptions, framework.waiting_pods = _DiscardingClient(), _DiscardedPreemptions(), WaitingPods()
    framework.cancel_pre_bind, framework.extenders = _not_in_pre_bind, extenders
    try:
        yield
    finally:
        framework.client, framework.preemptions, framework.waiting_pods, framework.cancel_pre_bind, framework.extenders = before


def _not_in_pre_bind(_uid: str, _message: str) -> bool:
    return False


class _DiscardedPreemptions:
    """Starts no preemption."""

    def start(self, preemptor: Preemptor, node: str, victims: Sequence[PodInfo], *, profile: str, plugin: str) -> None:
        """Evict nothing."""

    def is_running_for(self, uid: str) -> bool:  # noqa: ARG002
        return False


class _DiscardingClient:
    """An API server that accepts every write and forgets it."""

    def bind(self, pod: PodInfo, node_name: str) -> StatusError | None:  # noqa: ARG002
        return None

    def update(self, obj: StorageObject) -> StorageObject | StatusError:
        return obj

    def find_claim(self, key: str) -> ResourceClaim | None:  # noqa: ARG002
        return None

    def create_claim(self, claim: ResourceClaim) -> ResourceClaim | StatusError:
        return claim

    def update_claim(self, claim: ResourceClaim) -> ResourceClaim | StatusError:
        return claim

    def update_claim_status(self, claim: ResourceClaim) -> ResourceClaim | StatusError:
        return claim

    def unreserve_claim(self, claim: ResourceClaim, pod: Pod) -> StatusError | None:  # noqa: ARG002
        return None

    def delete_claim(self, claim: ResourceClaim) -> StatusError | None:  # noqa: ARG002
        return None

    def patch_extended_resource_claim_status(self, pod: Pod, status: PodExtendedResourceClaimStatus) -> StatusError | None:  # noqa: ARG002
        return None

    def clear_nominated_node_name(self, pod: Pod) -> StatusError | None:  # noqa: ARG002
        return None

    def patch_condition(self, pod: Pod, condition: PodCondition) -> StatusError | None:  # noqa: ARG002
        return None

    def apply_condition(self, pod: Pod, condition: PodCondition) -> StatusError | None:  # noqa: ARG002
        return None

    def delete_pod(self, pod: Pod) -> StatusError | None:  # noqa: ARG002
        return None

    def record_event(self, pod: Pod, *, profile: str, type_: str, reason: str, action: str, note: str, related: str = "") -> None:
        """Record nothing."""
