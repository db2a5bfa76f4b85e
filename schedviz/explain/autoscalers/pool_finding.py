"""`PoolFinding`: what the reason of one NodePool means, and how far Karpenter came with it."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Final, NamedTuple

from schedviz.explain.autoscalers.karpenter_text import PoolReason
from schedviz.trace.phrase import Phrase, phrase

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,252}")


class Stage(IntEnum):
    """The check that a NodePool fails; a later one has a larger number. Nothing was checked of a NodePool at its limits."""

    #: The pod selects another NodePool by its name.
    OTHER_POOL = 0
    TAINTS = 1
    UNKNOWN = 2
    LABELS = 3
    VOLUMES = 4
    TOPOLOGY = 5
    INSTANCE_TYPES = 6
    LIMITS = 7
    #: It is about the pod, whatever the NodePool.
    POD = 8


class PoolFinding(NamedTuple):
    """The meaning of a reason."""

    reason: PoolReason
    stage: Stage
    #: After "Karpenter cannot add a node for this pod: ".
    said: Phrase
    #: A sentence or more, without the last full stop.
    advice: Phrase
    #: In the list of other NodePools; None: not worth a mention.
    short: Phrase | None
    #: An extended resource that the pod requests; "": none.
    resource: str = ""
    #: What instance types have to meet, if `said` does not list it because an extended resource is the likelier cause; "": nothing.
    required: str = ""
    #: The label that the NodePool does not define; "": it is something else.
    missing: str = ""
    #: Whether the pod selects the NodePool.
    is_selected: bool = False


def pool_phrase(reason: PoolReason, *, is_selected: bool = False) -> Phrase:
    """The NodePool with its name as code, whether the pod selects it, or `a NodePool`."""
    is_provisioner = reason.kind == "Provisioner"
    if not reason.pool and reason.is_only:
        return phrase("the Provisioner") if is_provisioner else phrase("the NodePool")
    if not reason.pool:
        return phrase("a Provisioner") if is_provisioner else phrase("a NodePool")
    if is_selected and is_provisioner:
        return phrase("Provisioner `{name}`, which the pod selects,", name=reason.pool)
    if is_selected:
        return phrase("NodePool `{name}`, which the pod selects,", name=reason.pool)
    return phrase("Provisioner `{name}`", name=reason.pool) if is_provisioner else phrase("NodePool `{name}`", name=reason.pool)


def pool_again(reason: PoolReason) -> Phrase:
    """The same after it was named: its kind and name, or `that NodePool`."""
    if reason.pool or reason.is_only:
        return pool_phrase(reason)
    return phrase("that Provisioner") if reason.kind == "Provisioner" else phrase("that NodePool")


def bare_pool(reason: PoolReason) -> Phrase:
    """Its name in a list."""
    return Phrase("`{name}`", {"name": reason.pool}) if reason.pool else phrase("another one")


def command_for(reason: PoolReason, verb: str = "get") -> str:
    """The kubectl command that shows the NodePool, or all of them if its name is not known."""
    kind = reason.kind.lower()
    end = "" if verb == "describe" else " -o yaml"
    return f"kubectl {verb} {kind} {reason.pool}{end}" if _NAME.fullmatch(reason.pool) else f"kubectl {verb} {kind}s{end}"
