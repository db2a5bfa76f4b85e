"""What a copied text says about pods, claims and nodes besides its messages: one struct for each kind of fact."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class PodFact(msgspec.Struct, frozen=True):
    """A fact about one pod."""

    #: `namespace/name`; "": the text does not name it.
    pod: str


class PlacedPod(PodFact, frozen=True):
    """That a pod has a node."""

    #: "5m ago", or the time of a log or an Event; "": unknown.
    at: str
    node: str


class NominatedPod(PodFact, frozen=True):
    """That a pod is nominated to a node."""

    node: str


class PendingPod(PodFact, frozen=True):
    """That a table lists a pod as Pending."""


class DeletedPod(PodFact, frozen=True):
    """That the owner of a pod deleted it."""

    #: As in `PlacedPod`.
    at: str


class PodProgress(PodFact, frozen=True):
    """That a container of a pod started, or that its volume was attached."""

    #: As in `PlacedPod`.
    at: str
    #: Of the event.
    reason: str


class PodWarning(PodFact, frozen=True):
    """An event about a pod that is not about scheduling. Or that it was preempted."""

    #: As in `PlacedPod`.
    at: str
    reason: str
    message: str


class LackingClaim(PodFact, frozen=True):
    """The claim of a pod for which a node has no access to enough storage."""

    #: `namespace/name`.
    claim: str
    requested_bytes: int
    storage_class: str


class FailedClaim(msgspec.Struct, frozen=True):
    """That a claim has no volume."""

    #: `namespace/name`; "": the text does not name it.
    claim: str
    #: As in `PlacedPod`.
    at: str
    message: str


class BoundClaim(msgspec.Struct, frozen=True):
    """That a claim is bound."""

    #: `namespace/name`.
    claim: str
    volume: str


class PoolError(msgspec.Struct, frozen=True):
    """An error about a NodePool in Karpenter's log."""

    pool: str
    message: str


class BrokenNode(msgspec.Struct, frozen=True):
    """That a node is not ready."""

    node: str


class DescribedNode(msgspec.Struct, frozen=True):
    """What a described node, or a Node object, says about which pods it takes. It need not be whole."""

    name: str
    #: Its taints that keep pods off it: as `key=value`, and with their effect.
    taints: tuple[str, ...]
    whole_taints: tuple[str, ...]
    is_cordoned: bool
    #: The message of its condition Ready; "": it is ready, or the text lacks that.
    unready: str


class NodeCapacity(msgspec.Struct, frozen=True):
    """The allocatable amount of each resource of a node, and what its pods request in total."""

    #: "": the text does not name it.
    node: str
    allocatable: Mapping[str, str]
    #: Empty: the text does not say it.
    requested: Mapping[str, str]


class PrintedSelector(msgspec.Struct, frozen=True):
    """A node selector that a command prints."""

    selector: Mapping[str, str]


class PrintedLabels(msgspec.Struct, frozen=True):
    """The labels of a node that a command prints."""

    labels: Mapping[str, str]


TextFact = PodFact | FailedClaim | BoundClaim | PoolError | BrokenNode | DescribedNode | NodeCapacity | PrintedSelector | PrintedLabels
