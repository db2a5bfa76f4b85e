"""`without_instance_types`: that Karpenter's message about limits only means that it found no instance types, by its log's other lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from schedviz.explain.autoscalers.karpenter_text import PoolReason, pool_reasons
from schedviz.explain.autoscalers.pool_finding import command_for, pool_phrase
from schedviz.explain.autoscalers.verdict import Verdict
from schedviz.kube.text_facts import PoolError
from schedviz.trace.phrase import phrase

_LIMITS: Final = "all available instance types exceed limits"
#: A node class that does not exist; the API server names it so.
_MISSING: Final = re.compile(r'\b(?P<kind>[A-Za-z0-9]{1,60})(?:\.[a-z0-9.-]{1,200})? "(?P<name>[a-z0-9][a-z0-9.-]{0,252})" not found')
_UNRESOLVED: Final = re.compile(r"(?:unable to resolve instance types, |resolving node class, )(?P<why>.+)")
_NONE_FOUND: Final = "no resolved instance types found"
_CONSEQUENCE: Final = phrase(
    "Karpenter's message about limits is a consequence: it reports a NodePool or Provisioner without instance types as over its limits."
)


def without_instance_types(message: str, errors: Sequence[PoolError]) -> Verdict | None:
    """What to read first if each NodePool that a message of Karpenter says is over its limits has no instance types; None otherwise."""
    limited = [reason for reason in pool_reasons(message) if reason.why.startswith(_LIMITS) and reason.pool]
    found = [next((verdict for error in errors if (verdict := _verdict(reason, error)) is not None), None) for reason in limited]
    return found[0] if found and None not in found else None


def _verdict(reason: PoolReason, error: PoolError) -> Verdict | None:
    if error.pool != reason.pool:
        return None
    pool = pool_phrase(reason)
    field = "spec.providerRef" if reason.kind == "Provisioner" else "spec.template.spec.nodeClassRef"
    if (missing := _MISSING.search(error.message)) is not None:
        sentence = phrase(
            "Karpenter cannot add a node: {pool} refers to {kind} `{name}`, which does not exist.",
            pool=pool,
            kind=missing["kind"],
            name=missing["name"],
        )
        advice = phrase(
            "Create {kind} `{name}`, or correct `{field}` in {pool}", kind=missing["kind"], name=missing["name"], field=field, pool=pool
        )
    elif error.message.startswith(_NONE_FOUND):
        sentence = phrase("Karpenter cannot add a node: it found no instance types for {pool}.", pool=pool)
        advice = phrase(
            "Check the requirements of {pool}, and the node class to which `{field}` refers: `{command}`",
            pool=pool,
            field=field,
            command=command_for(reason),
        )
    elif (unresolved := _UNRESOLVED.match(error.message)) is not None:
        sentence = phrase(
            "Karpenter cannot add a node: it cannot find the instance types of {pool} ({why}).", pool=pool, why=unresolved["why"]
        )
        advice = phrase(
            "Check the node class to which `{field}` of {pool} refers: `{command}`", field=field, pool=pool, command=command_for(reason)
        )
    else:
        return None
    return Verdict(sentence, advice, _CONSEQUENCE)
