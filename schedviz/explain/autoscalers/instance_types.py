"""Explains why no instance type of a NodePool is left for a pod.

Karpenter names the conditions that no instance type meets: the requirements of the pod and the NodePool, enough resources, and an
offering, which is an available zone and capacity type.
"""

from __future__ import annotations

import re
from typing import Final

from schedviz.explain.autoscalers.karpenter_text import PoolReason
from schedviz.explain.autoscalers.pool_finding import PoolFinding, Stage, bare_pool, command_for, pool_again
from schedviz.explain.autoscalers.requirement import ZONE, amounts, decisive, extended, printed, requirements_in
from schedviz.trace.phrase import Phrase, phrase

_ABOUT: Final = re.compile(r"no instance type |minValues|instance types", re.IGNORECASE)
_MIN_VALUES: Final = re.compile(
    r'minValues requirement is not met for (?:label(?:\(s\))? )?(?:\(label(?:\(s\))?=\[?|")(?P<labels>[^\]\)"]++)'
)
_MIN_VALUES_OF_POOL: Final = "meet minValues requirements"
_FILTERED: Final = "filtered out all"
_RESERVED: Final = re.compile(r"reserved offering")
#: A conclusion in parentheses at the end, up to 1.2; from 1.3 on it comes first.
_CONCLUSION: Final = re.compile(r"\((?P<conclusion>no instance type [^()]*+(?:\([^()]*+\)[^()]*+)?)\)?\s*+;?$")
_REQUIREMENTS: Final = re.compile(r"requirements(?:=| )(?P<list>.*?)(?:, resources=|\s\(no instance|\s\(minValues|$)")
#: Extended resources that every Karpenter knows.
_KNOWN_DEVICES: Final = frozenset({"nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi"})
#: The words of a conclusion.
_NOT_MET: Final = ("met the scheduling requirements or", "met all requirements")
_TOO_SMALL: Final = ("had enough resources or", "or had enough resources", "has enough resources")
_NOT_OFFERED: Final = ("or had a required offering", "has the required offering")


def explained_instance_types(reason: PoolReason, pool: Phrase) -> PoolFinding | None:
    """The meaning; None if the reason is about something else."""
    if not _ABOUT.search(reason.why):
        return None
    plain, command = pool_again(reason), command_for(reason)
    short = phrase("{pool} has no suitable instance type", pool=bare_pool(reason))
    special = _special(reason, pool, plain, command)
    if special is not None:
        return PoolFinding(reason, Stage.INSTANCE_TYPES, *special, short)
    resources = amounts(reason.why)
    required = _REQUIREMENTS.search(reason.why)
    requirements = decisive(required["list"]) if required is not None else ""
    if required is not None and any(each.key == ZONE and each.operator == "DoesNotExist" for each in requirements_in(required["list"])):
        said = phrase("no zone satisfies all requirements of the pod and of {pool}", pool=pool)
        advice = phrase(
            "If the pod uses several volumes, check first that they are in the same zone: `kubectl get pv -o yaml`. Then compare the "
            "zones that the pod allows (node selector, affinity, topology spread, bound volumes) with those of {pool}: `{command}`",
            pool=plain,
            command=command,
        )
        return PoolFinding(reason, Stage.INSTANCE_TYPES, said, advice, short)
    conclusion = _conclusion(reason.why)
    said, is_size, is_offering, is_requirement = _said(conclusion, pool)
    detail = [requirements] if is_requirement or is_offering else []
    detail += [printed(resources)] if is_size and not (is_requirement and is_offering) else []
    listed = "; ".join(filter(None, detail))
    needed = extended(resources) if is_size or "met the scheduling requirements" in conclusion else []
    if listed and not needed:
        said = phrase("{said} ({details})", said=said, details=listed)
    if needed and needed[0] in _KNOWN_DEVICES:
        advice = phrase(
            "Allow instance types that provide `{resource}` in {pool}: `{command}`", resource=needed[0], pool=plain, command=command
        )
    elif needed:
        advice = phrase(
            "Check that this version of Karpenter supports `{resource}`, and that the instance types in {pool} provide it: `{command}`",
            resource=needed[0],
            pool=plain,
            command=command,
        )
    else:
        advice = _advice(plain, command, is_size=is_size, is_offering=is_offering, is_requirement=is_requirement)
    if "m vs M typo" in reason.why:
        advice = phrase("Check the unit of the pod's CPU request: m is a thousandth, and M is a million")
    return PoolFinding(
        reason, Stage.INSTANCE_TYPES, said, advice, short, resource=needed[0] if needed else "", required=listed if needed else ""
    )


def _special(reason: PoolReason, pool: Phrase, plain: Phrase, command: str) -> tuple[Phrase, Phrase] | None:
    """Reasons that no condition explains."""
    values = _MIN_VALUES.search(reason.why)
    if values is not None or _MIN_VALUES_OF_POOL in reason.why:
        labels = values["labels"].replace(" ", ", ") if values is not None else ""
        said = (
            phrase("the instance types that remain in {pool} have fewer values of {labels} than its `minValues`", pool=pool, labels=labels)
            if labels
            else phrase("the instance types that remain in {pool} do not satisfy its `minValues`", pool=pool)
        )
        return said, phrase("Lower `minValues` in {pool}, or allow more instance types: `{command}`", pool=plain, command=command)
    if _RESERVED.search(reason.why):
        said = phrase("the reserved capacity in {pool} is used by other NodeClaims", pool=pool)
        return said, phrase("Wait for reserved capacity, or allow other capacity types in {pool}: `{command}`", pool=plain, command=command)
    if _FILTERED in reason.why:
        said = phrase("the requirements of {pool} leave no instance type", pool=pool)
        return said, phrase("Correct the requirements of {pool}: `{command}`", pool=plain, command=command)
    if "dynamic resource" in reason.why:
        said = phrase("no instance type in {pool} satisfies both the requirements and the resource claims of the pod", pool=pool)
        return said, phrase("Compare the pod's resource claims with the instance types of {pool}: `{command}`", pool=plain, command=command)
    return None


def _conclusion(why: str) -> str:
    """The part that says which conditions fail; before 0.28, it says only that some do."""
    found = _CONCLUSION.search(why)
    if found is not None:
        return found["conclusion"]
    return "" if "satisfied resources" in why else why.partition(", requirements=")[0]


def _said(conclusion: str, pool: Phrase) -> tuple[Phrase, bool, bool, bool]:
    """The sentence, and whether it is about the size, the offering, and the requirements."""
    if "and had enough resources, had a required offering" in conclusion:
        offered = phrase(
            "no instance type in {pool} that meets the requirements and is large enough is offered in the required zone and capacity type",
            pool=pool,
        )
        return offered, False, True, True
    if "enough resources and the required offering met" in conclusion:
        return phrase("no instance type in {pool} that is large enough and offered meets the requirements", pool=pool), False, False, True
    if "and the required offering had the required resources" in conclusion:
        return phrase("no instance type in {pool} that meets the requirements and is offered is large enough", pool=pool), True, False, True
    if "tuple" in conclusion:
        return phrase("no instance type in {pool} meets the requirements, is large enough, and is offered", pool=pool), True, True, True
    not_met, small, missing = (any(words in conclusion for words in group) for group in (_NOT_MET, _TOO_SMALL, _NOT_OFFERED))
    match (not_met, small, missing):
        case (True, True, True):
            said = phrase("no instance type in {pool} meets the requirements, is large enough, or is offered", pool=pool)
        case (True, True, False):
            said = phrase("no instance type in {pool} meets the requirements, and none is large enough", pool=pool)
        case (True, False, True):
            said = phrase(
                "no instance type in {pool} meets the requirements, and none is offered in the required zone and capacity type", pool=pool
            )
        case (False, True, True):
            said = phrase(
                "no instance type in {pool} is large enough, and none is offered in the required zone and capacity type", pool=pool
            )
        case (True, False, False):
            said = phrase("no instance type in {pool} meets the requirements of the pod and the NodePool", pool=pool)
        case (False, True, False):
            said = phrase("no instance type in {pool} provides what the pod and the DaemonSet pods of a node need", pool=pool)
        case (False, False, True):
            said = phrase("no instance type in {pool} is offered in the required zone and capacity type", pool=pool)
        case _:
            said = phrase("no instance type in {pool} satisfies both the requirements and the requested resources", pool=pool)
            return said, True, False, True
    return said, small, missing, not_met


def _advice(pool: Phrase, command: str, *, is_size: bool, is_offering: bool, is_requirement: bool) -> Phrase:
    if is_size and not (is_offering or is_requirement):
        return phrase(
            (
                "Lower the pod's requests, or allow larger instance types in {pool}. Its `spec.limits` may exclude larger "
                "ones, too: `{command}`"
            ),
            pool=pool,
            command=command,
        )
    if is_offering and is_size and is_requirement:
        return phrase(
            "Check that the required zones and instance types exist, and that the node class of {pool} can use them: `{command}`",
            pool=pool,
            command=command,
        )
    if is_offering and not is_size:
        return phrase(
            "Allow more zones, instance types, or capacity types in {pool}: `{command}`. Karpenter also skips instance types for "
            "some minutes "
            "after the cloud has refused them: search its log for insufficient capacity",
            pool=pool,
            command=command,
        )
    if is_requirement and not is_size:
        return phrase("Compare the pod's node selector and node affinity with {pool}: `{command}`", pool=pool, command=command)
    return phrase(
        "Compare the pod's requests, node selector, and node affinity with the instance types of {pool}: `{command}`",
        pool=pool,
        command=command,
    )
