"""Splits a message of Karpenter, from its events or its log, into the reason of each NodePool."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from schedviz.explain.autoscalers.requirement import pool_in

#: How messages about a pod that gets no node begin, in events and in logs.
_HEAD: Final = re.compile(r"(?:could not|failed to) schedule pod,? |ignoring pod,? ", re.IGNORECASE)
#: Up to 1.4, each NodePool's reason begins with its name; Provisioners had that name before 0.32.
_OF_POOL: Final = re.compile(
    r'(?P<compatible>in)?compatible with (?P<kind>nodepool|provisioner) "(?P<pool>[^"]*+)"(?: but failed to add pod while adhering to '
    r"reservation fallback policy)?,? ?(?:daemonset overhead=(?:\{[^{}]*+\}|[^,]*+),? ?)?"
)
#: A reason that names its NodePool at its end.
_LIMITED: Final = re.compile(
    r"(?:all available instance types exceed limits|node limits have been exhausted) for (?P<kind>nodepool"
    r'|provisioner):? ?(?:\(NodePool=)?"?'
    r'(?P<pool>[^"\s;)]*+)'
)
#: From 1.5 on: the values of an error, `(NodePool=arm)`.
_WRAPPED_POOL: Final = re.compile(r'\bNodePool="?(?P<pool>[a-z0-9.-]++)')
#: Further faults of the same NodePool, which Karpenter joins like the reasons of different NodePools.
_CONTINUES: Final = re.compile(r"key \S")
#: What another NodePool provides, which the pod does not select by its name.
_OTHER_POOL: Final = re.compile(r" not in karpenter\.sh/(?:nodepool|provisioner-name) In \[(?P<pool>[^\]\s]++)\]")
#: The longest text that is examined, in characters.
_MAX_LENGTH: Final = 20_000


class PoolReason(NamedTuple):
    """Why one NodePool gives the pod no node. `pool` is "" where the message does not name it."""

    kind: str
    pool: str
    #: Without the name of the NodePool.
    why: str
    #: As Karpenter wrote it.
    text: str
    #: Whether Karpenter considered no other NodePool.
    is_only: bool = False


def pool_reasons(message: str) -> list[PoolReason]:
    """The reasons in a message of Karpenter, in its order; empty for the text of something else."""
    head = _HEAD.match(message)
    if (head is None and _OF_POOL.match(message) is None) or len(message) > _MAX_LENGTH:
        return []
    parts = [part.strip(" .;…") for part in message[head.end() if head is not None else 0 :].split("; ")]
    parts = [part for part in parts if part]
    is_named = any(_OF_POOL.match(part) for part in parts)
    merged: list[str] = []
    for part in parts:
        begins = _OF_POOL.match(part) is not None or _LIMITED.match(part) is not None
        continues = not begins if is_named else _CONTINUES.match(part) is not None
        if continues and merged and _LIMITED.match(merged[-1]) is None:
            merged[-1] = f"{merged[-1]}; {part}"
        else:
            merged.append(part)
    return [_reason(part)._replace(is_only=len(merged) == 1) for part in merged]


def _reason(text: str) -> PoolReason:
    named = _OF_POOL.match(text)
    if named is not None:
        return PoolReason(_kind(named["kind"]), named["pool"], text[named.end() :] or text, text)
    limited = _LIMITED.match(text)
    if limited is not None:
        return PoolReason(_kind(limited["kind"]), limited["pool"], text, text)
    wrapped = _WRAPPED_POOL.search(text)
    kind = "Provisioner" if "karpenter.sh/provisioner-name" in text or "provisioner limits" in text else "NodePool"
    if wrapped is not None:
        return PoolReason(kind, wrapped["pool"], text, text)
    other = _OTHER_POOL.search(text)
    return PoolReason(kind, other["pool"] if other is not None else pool_in(text) if " not in " not in text else "", text, text)


def _kind(word: str) -> str:
    return "Provisioner" if word.lower() == "provisioner" else "NodePool"
