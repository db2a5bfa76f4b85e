"""Explains the topology constraint of a pod that a NodePool cannot satisfy."""

from __future__ import annotations

import re
from typing import Final

from schedviz.explain.autoscalers.karpenter_text import PoolReason
from schedviz.explain.autoscalers.pool_finding import PoolFinding, Stage, bare_pool, pool_again
from schedviz.explain.autoscalers.requirement import Requirement, requirements_in
from schedviz.trace.phrase import Phrase, counted, joined, phrase

_TOPOLOGY: Final = re.compile(
    r"unsatisfiable topology constraint for (?P<type>topology spread|pod affinity|pod anti-affinity|key)(?:, key="
    r"| )(?P<key>[^\s(,]++)(?P<rest>.*)"
)
#: `eu-west-1a: 1`; before 0.33 without commas.
_COUNT: Final = re.compile(r"(?P<domain>[^\s:,=(]++): (?P<pods>\d{1,9})(?!\d)")
#: The domains beyond those that Karpenter lists.
_UNLISTED: Final = re.compile(r" and (?P<count>[1-9]\d{0,6}) other\(s\)")
_POD_DOMAINS: Final = re.compile(r"podDomains = (?P<domains>.*?)(?:, nodeDomains|$)")
_NODE_DOMAINS: Final = re.compile(r"nodeDomains = (?P<domains>.*)$")
_HOSTNAME: Final = "kubernetes.io/hostname"
#: Domains that a sentence names.
_MAX_DOMAINS: Final = 3


def explained_topology(reason: PoolReason, pool: Phrase) -> PoolFinding | None:
    """The meaning; None if the reason is about something else."""
    found = _TOPOLOGY.search(reason.why)
    if found is None:
        return None
    plain, key, rest = pool_again(reason), found["key"], found["rest"]
    listed = rest.partition("podDomains")[0]
    counts = {each["domain"]: int(each["pods"]) for each in _COUNT.finditer(listed)}
    allowed, is_of_pod = _allowed(rest)
    match found["type"]:
        case "pod affinity":
            said, advice = _affinity(pool, key, counts)
        case "pod anti-affinity":
            said = phrase("anti-affinity, of this pod or of running pods, excludes every `{key}` in {pool}", key=key, pool=pool)
            advice = phrase(
                "Make the anti-affinity preferred instead of required, or allow {pool} to create nodes in more domains", pool=plain
            )
        case _:
            unlisted = _UNLISTED.search(listed)
            if unlisted is not None and counts and len(allowed) == 1 and is_of_pod and key != _HOSTNAME:
                said, advice = _spread_over_more(pool, plain, key, counts, allowed[0], int(unlisted["count"]))
            else:
                said, advice = _spread(pool, plain, key, counts, allowed, is_of_pod=is_of_pod)
    short = phrase("{pool} cannot satisfy the topology constraints over `{key}`", pool=bare_pool(reason), key=key)
    return PoolFinding(reason, Stage.TOPOLOGY, said, advice, short)


def _allowed(rest: str) -> tuple[tuple[str, ...], bool]:
    """The domains in which the pod may run on a node of the NodePool, and whether the pod itself allows no others; empty: not listed."""
    found = [each for pattern in (_POD_DOMAINS, _NODE_DOMAINS) if (each := _of(pattern, rest)) is not None and each.operator == "In"]
    domains = tuple(value for value in found[0].values if all(value in other.values for other in found)) if found else ()
    pod = _of(_POD_DOMAINS, rest)
    return domains, pod is not None and pod.operator == "In"


def _of(pattern: re.Pattern[str], rest: str) -> Requirement | None:
    found = pattern.search(rest)
    return next(requirements_in(found["domains"]), None) if found is not None else None


def _spread(
    pool: Phrase, plain: Phrase, key: str, counts: dict[str, int], allowed: tuple[str, ...], *, is_of_pod: bool
) -> tuple[Phrase, Phrase]:
    # Those with the fewest pods decide, and those where the pod may run.
    fewest = [domain for domain, pods in counts.items() if pods == min(counts.values())]
    elsewhere = [domain for domain in fewest if domain not in allowed]
    if not counts or not allowed or not elsewhere or len(elsewhere) < len(fewest) or key == _HOSTNAME:
        said = phrase("{pool} cannot satisfy the pod's topology spread over `{key}`", pool=pool, key=key)
        if counts and key != _HOSTNAME:
            said = phrase("{said} ({counts})", said=said, counts=_counted(counts, list(counts)))
        return said, phrase("Allow nodes in more domains of `{key}`, raise `maxSkew`, or set `whenUnsatisfiable: ScheduleAnyway`", key=key)
    named = [domain for domain in counts if domain in allowed] + elsewhere
    values: dict[str, str | Phrase] = {
        "pool": pool,
        "key": key,
        "counts": _counted(counts, named),
        "allowed": " or ".join(allowed[:_MAX_DOMAINS]),
    }
    said = (
        phrase("{pool} cannot satisfy the pod's topology spread over `{key}`: {counts}, but the pod can run only in {allowed}", **values)
        if is_of_pod
        else phrase(
            ("{pool} cannot satisfy the pod's topology spread over `{key}`: {counts}, but nodes of the pool can be only in {allowed}"),
            **values,
        )
    )
    advice = phrase(
        (
            "Make {fewest} available to both the pod and {pool}. Check the pod's node selector, the zones of its volumes, "
            "and the pool's requirements. If no NodePool can create nodes in {fewest}, exclude that domain with the pod's "
            "node affinity, or set `whenUnsatisfiable: ScheduleAnyway`"
        ),
        pool=plain,
        fewest=elsewhere[0],
    )
    return said, advice


def _spread_over_more(pool: Phrase, plain: Phrase, key: str, counts: dict[str, int], allowed: str, unlisted: int) -> tuple[Phrase, Phrase]:
    """The same where the pod can run in one domain, and Karpenter does not list all domains that it compares with it."""
    said = phrase(
        "{pool} cannot satisfy the pod's topology spread over `{key}`: {counts}, and Karpenter compares {others}, but the pod can run only "
        "in {allowed}",
        pool=pool,
        key=key,
        counts=_counted(counts, list(counts)),
        others=counted(unlisted, "{count} more domain", "{count} more domains"),
        allowed=allowed,
    )
    advice = phrase(
        "Find out what limits the pod to {allowed}: its node selector, or the zones of its volumes. If it must run there, exclude the "
        "domains that it cannot use from the requirements of {pool}, or set `whenUnsatisfiable: ScheduleAnyway`",
        pool=plain,
        allowed=allowed,
    )
    return said, advice


def _counted(counts: dict[str, int], domains: list[str]) -> Phrase:
    """`eu-west-1a has 1 matching pod and eu-west-1b has 0`."""
    first, *others = domains[:_MAX_DOMAINS]
    pods = counts[first]
    head = phrase("{domain} has 1 matching pod", domain=first)
    if pods != 1:
        head = phrase("{domain} has {count} matching pods", domain=first, count=pods)
    said = [head, *(phrase("{domain} has {count}", domain=domain, count=counts[domain]) for domain in others)]
    if len(said) == 1:
        return head
    return phrase("{first} and {next}", first=joined(said[:-1], "{first}, {next}"), next=said[-1])


def _affinity(pool: Phrase, key: str, counts: dict[str, int]) -> tuple[Phrase, Phrase]:
    if any(counts.values()) and key != _HOSTNAME:
        matching = ", ".join([domain for domain, pods in counts.items() if pods][:_MAX_DOMAINS])
        said = phrase(
            "the pods that the pod's affinity requires run in {domains}, where {pool} cannot create a node", domains=matching, pool=pool
        )
        return said, phrase(
            "Allow {domains} in the requirements of {pool} and in the pod, or relax the pod affinity", domains=matching, pool=pool
        )
    if any(counts.values()):
        said = phrase(
            "the pod's affinity requires a node that already runs a matching pod, so a new node of {pool} does not help", pool=pool
        )
        return said, phrase("Free up capacity on the node of the matching pod, or relax the pod affinity")
    said = phrase("no running pod that Karpenter knows matches the pod's affinity over `{key}`", key=key)
    return said, phrase("Check the label selector and the namespaces of the pod affinity, and that the pods it requires are running")
