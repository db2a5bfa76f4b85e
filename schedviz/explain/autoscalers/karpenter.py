"""`refusal_of` and `clauses_of`: what a message of Karpenter about a pod means, the NodePool that comes closest first.

Karpenter checks a NodePool's taints first, then its labels, the topology constraints, and last its instance types. So a NodePool that
fails late matches the pod in everything before, and taints of other NodePools are no news. Limits are checked before everything else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from schedviz.explain.autoscalers.instance_types import explained_instance_types
from schedviz.explain.autoscalers.karpenter_text import PoolReason, pool_reasons
from schedviz.explain.autoscalers.pool_finding import PoolFinding, Stage, bare_pool, command_for, pool_again, pool_phrase
from schedviz.explain.autoscalers.refusal import Refusal
from schedviz.explain.autoscalers.requirement import CAPACITY_TYPE, POOL_KEYS, ZONE, Requirement, requirements_in
from schedviz.explain.autoscalers.topology import explained_topology
from schedviz.explain.autoscalers.whole_pod import explained_whole_pod
from schedviz.explain.explanation import Clause
from schedviz.explain.reason_tables.autoscalers import KARPENTER
from schedviz.trace.phrase import Phrase, joined, phrase, some

_TAINT: Final = re.compile(r"did not tolerate (?:taint )?(?:\(taint=)?(?P<taint>[^\s;()]++)")
_LABEL: Final = re.compile(r'label "(?P<key>[^"]++)" does not have known values(?: \(typo of "(?P<hint>[^"]++)"\?\))?')
#: What the pod requires, and what the NodePool provides: `key zone, zone In [a] not in zone In [b]`.
_MISMATCH: Final = re.compile(r"key (?P<key>[^\s,]++), (?P<asked>.+?) not in (?P<made>.+?)(?= \(|; key |$)")
_LIMITS: Final = re.compile(r"all available instance types exceed (?:provisioner )?limits|another node would exceed")
_NODE_LIMIT: Final = "node limits have been exhausted"
_HOST_PORT: Final = re.compile(r"checking host port usage|hostport conflicts|HostPort configuration")
_VOLUME: Final = "incompatible volume requirements"
#: Labels that every node has, so that nobody requires their absence.
_OF_EVERY_NODE: Final = frozenset(
    {ZONE, CAPACITY_TYPE, "topology.kubernetes.io/region", "kubernetes.io/arch", "kubernetes.io/os", "node.kubernetes.io/instance-type"}
)
#: How advice about a NodePool begins that the pod need not be meant for.
_IF_ELSEWHERE: Final = "If the pod belongs in "
#: NodePools that are listed after the first sentence.
_MAX_OTHERS: Final = 4


def refusal_of(message: str) -> Refusal | None:
    """What a message of Karpenter means; None for another text."""
    findings = _ranked(message)
    if not findings:
        return None
    leading = _leading(findings)
    if len(leading) == 1 and leading[0].stage is Stage.POD:
        return Refusal(phrase("Karpenter does not add a node for this pod: {reason}.", reason=leading[0].said), leading[0].advice)
    said = leading[0].said if len(leading) == 1 else phrase("{first}, and {next}", first=leading[0].said, next=leading[1].said)
    sentence = phrase("Karpenter cannot add a node for this pod: {reason}.", reason=said)
    if (resource := next((each.resource for each in leading if each.resource), "")) != "":
        # The likeliest cause comes before the NodePool, what else is required after the message.
        sentence = phrase(
            "Karpenter cannot add a node for this pod, which requests the extended resource `{resource}`: {reason}.",
            resource=resource,
            reason=said,
        )
    return Refusal(sentence, _advice_about(leading), _note(findings, leading))


def clauses_of(message: str) -> tuple[Clause, ...]:
    """The reasons of a message of Karpenter, ranked; only the first says what to do. Empty for another text."""
    findings = _ranked(message)
    return tuple(
        Clause(0, each.reason.text, KARPENTER, "", ()).with_phrases(headline=each.said, advice=None if number else each.advice)
        for number, each in enumerate(findings)
    )


def _ranked(message: str) -> list[PoolFinding]:
    """The findings of a message, that of the NodePool which the pod was probably meant for first."""
    reasons = pool_reasons(message)
    asked = {(each.key, each.values[0]) for reason in reasons for each in _asked(reason) if len(each.values) == 1 and each.operator == "In"}
    findings = [_finding(reason, is_selected=_is_selected(reason, asked)) for reason in reasons]
    distinct = {("" if each.stage is Stage.POD else each.reason.pool, each.said.text): each for each in findings}
    return sorted(_merged(list(distinct.values())), key=lambda each: (-(each.stage is Stage.POD), -each.is_selected, -each.stage))


def _asked(reason: PoolReason) -> list[Requirement]:
    """What the pod requires, by what it says about a NodePool that does not provide it."""
    return [each for mismatch in _MISMATCH.finditer(reason.why) for each in requirements_in(mismatch["asked"])]


def _is_selected(reason: PoolReason, asked: set[tuple[str, str]]) -> bool:
    """Whether the pod's own requirements, which others do not meet, are those of this NodePool."""
    if not asked or any(each for each in _asked(reason) if each.key in POOL_KEYS):
        return False
    for key, value in asked:
        provides = any(each.key == key and value in each.values and each.operator == "In" for each in requirements_in(_listed(reason)))
        if value == reason.pool or provides or f"{key}={value}:" in reason.why:
            return True
    return False


def _listed(reason: PoolReason) -> str:
    """The part of a reason that lists what its nodes have: the requirements of both, unless they contradict each other."""
    return "" if " not in " in reason.why else reason.why


def _finding(reason: PoolReason, *, is_selected: bool) -> PoolFinding:
    pool = pool_phrase(reason, is_selected=is_selected)
    if (said := explained_whole_pod(reason.why)) is not None:
        return PoolFinding(reason, Stage.POD, *said, None)
    found = (
        _finding_about_limits(reason, pool)
        or _finding_about_taints(reason, pool)
        or _finding_about_volume(reason, pool)
        or _finding_about_labels(reason, pool)
        or explained_topology(reason, pool)
        or explained_instance_types(reason, pool)
        or _unknown(reason, pool)
    )
    return found._replace(is_selected=is_selected)


def _finding_about_limits(reason: PoolReason, pool: Phrase) -> PoolFinding | None:
    plain = pool_again(reason)
    if _NODE_LIMIT in reason.why:
        said = phrase("{pool} has reached its limit of nodes", pool=pool)
        advice = phrase("If the pod belongs in {pool}, raise `spec.limits.nodes`: `{command}`", pool=plain, command=command_for(reason))
    elif _LIMITS.match(reason.why):
        said = phrase("another node would exceed the limits of {pool}", pool=pool)
        advice = phrase(
            "If the pod belongs in {pool}, raise its `spec.limits`. To see the limits and the current usage, run `{command}`",
            pool=plain,
            command=command_for(reason, "describe"),
        )
    else:
        return None
    return PoolFinding(reason, Stage.LIMITS, said, advice, phrase("{pool} has reached its limits", pool=bare_pool(reason)))


def _finding_about_taints(reason: PoolReason, pool: Phrase) -> PoolFinding | None:
    taints = list(dict.fromkeys(match["taint"] for match in _TAINT.finditer(reason.why)))
    if not taints or not reason.why.startswith("did not tolerate"):
        return None
    values = {"taint": "`, `".join(taints)}
    if len(taints) > 1:
        said = phrase("{pool} has the taints `{taint}`, which the pod does not tolerate", pool=pool, **values)
        advice = phrase("If the pod belongs in {pool}, add tolerations for `{taint}`", pool=pool_again(reason), **values)
        short = phrase("{pool} has the taints `{taint}`", pool=bare_pool(reason), **values)
    else:
        said = phrase("{pool} has the taint `{taint}`, which the pod does not tolerate", pool=pool, **values)
        advice = phrase("If the pod belongs in {pool}, add a toleration for `{taint}`", pool=pool_again(reason), **values)
        short = phrase("{pool} has the taint `{taint}`", pool=bare_pool(reason), **values)
    return PoolFinding(reason, Stage.TAINTS, said, advice, short)


def _finding_about_volume(reason: PoolReason, pool: Phrase) -> PoolFinding | None:
    mismatch = _MISMATCH.search(reason.why) if reason.why.startswith(_VOLUME) else None
    asked = next(requirements_in(mismatch["asked"]), None) if mismatch is not None else None
    made = next(requirements_in(mismatch["made"]), None) if mismatch is not None else None
    if asked is None or made is None:
        return None
    if asked.operator == "DoesNotExist" and asked.key in _OF_EVERY_NODE:
        return _contradiction(reason, asked.key)
    said = phrase("the pod's volume requires `{asked}`, but {pool} provides `{made}`", asked=asked.text, pool=pool, made=made.text)
    advice = phrase(
        "Allow `{asked}` in the requirements of {pool}: `{command}`. A bound volume cannot move",
        asked=asked.text,
        pool=pool_again(reason),
        command=command_for(reason),
    )
    return PoolFinding(reason, Stage.VOLUMES, said, advice, phrase("{pool} provides `{made}`", pool=bare_pool(reason), made=made.text))


def _finding_about_labels(reason: PoolReason, pool: Phrase) -> PoolFinding | None:
    plain = pool_again(reason)
    if _HOST_PORT.search(reason.why):
        said = phrase("DaemonSet pods on each new node of {pool} already use the pod's host port", pool=pool)
        advice = phrase("Use another host port, or keep the DaemonSet off the nodes of {pool}", pool=plain)
        return PoolFinding(reason, Stage.TAINTS, said, advice, phrase("{pool} has the pod's host port in use", pool=bare_pool(reason)))
    label = _LABEL.search(reason.why)
    if label is not None:
        return _undefined_label(reason, pool, label["key"], label["hint"] or "")
    mismatch = _MISMATCH.search(reason.why)
    asked = next(requirements_in(mismatch["asked"]), None) if mismatch is not None else None
    made = next(requirements_in(mismatch["made"]), None) if mismatch is not None else None
    if mismatch is None or asked is None or made is None:
        return None
    if not reason.why.startswith("incompatible"):
        # The result of the topology constraints, compared with the node.
        said = phrase("a new node in {pool} cannot satisfy the pod's topology constraints on `{key}`", key=mismatch["key"], pool=pool)
        advice = phrase(
            ("Check the pod's topology spread constraints and its affinity and anti-affinity rules with `topologyKey` `{key}`"),
            key=mismatch["key"],
        )
        short = phrase("{pool} cannot satisfy the topology constraints over `{key}`", pool=bare_pool(reason), key=mismatch["key"])
        return PoolFinding(reason, Stage.TOPOLOGY, said, advice, short)
    if asked.operator == "DoesNotExist" and asked.key in _OF_EVERY_NODE:
        return _contradiction(reason, asked.key)
    is_other = asked.key in POOL_KEYS
    if is_other and asked.operator == "In":
        said = phrase("the pod selects NodePool `{other}`, which is not among those that Karpenter can use", other=asked.listed)
        advice = phrase(
            (
                "Check that NodePool `{other}` exists and is ready: `kubectl get nodepools`. If it does not exist, correct "
                "the pod's node selector"
            ),
            other=asked.listed,
        )
        return PoolFinding(reason, Stage.OTHER_POOL, said, advice, None)
    said = phrase("the pod requires `{asked}`, but {pool} provides `{made}`", asked=asked.text, pool=pool, made=_provided(asked, made))
    advice = phrase("Compare the pod's node selector and node affinity with {pool}: `{command}`", pool=plain, command=command_for(reason))
    if "zone" in asked.key:
        advice = phrase("{advice}. A bound volume also requires its zone", advice=advice)
    return PoolFinding(reason, Stage.LABELS, said, advice, phrase("{pool} provides `{made}`", pool=bare_pool(reason), made=made.text))


def _contradiction(reason: PoolReason, key: str) -> PoolFinding:
    """About a label of every node: Karpenter prints `DoesNotExist` where the requirements of the pod and its volumes share no value."""
    if key == ZONE:
        said = phrase("the zone requirements of the pod and its volumes contradict each other, so no zone is left")
        advice = phrase(
            "Compare the zones of the pod's volumes with each other and with the pod's node selector and affinity. `kubectl describe pv` "
            "shows a volume's zone under `Node Affinity`"
        )
        return PoolFinding(reason, Stage.POD, said, advice, None)
    said = phrase("the pod's requirements for the label `{key}` contradict each other, so no value is left", key=key)
    advice = phrase("Compare the pod's node selector, node affinity, and volumes: they must have a value of `{key}` in common", key=key)
    return PoolFinding(reason, Stage.POD, said, advice, None)


def _provided(asked: Requirement, made: Requirement) -> str:
    return made.listed if asked.key == made.key and asked.operator == made.operator == "In" else made.text


def _undefined_label(reason: PoolReason, pool: Phrase, key: str, hint: str) -> PoolFinding:
    plain = pool_again(reason)
    said = phrase("{pool} does not define the label `{key}`, which the pod requires", pool=pool, key=key)
    fields = (
        "`spec.labels` or `spec.requirements`"
        if reason.kind == "Provisioner"
        else "`spec.template.metadata.labels` or `spec.template.spec.requirements`"
    )
    advice = phrase(
        "Add the label `{key}` to {fields} of {pool}, or remove it from the pod's node selector and affinity",
        key=key,
        fields=fields,
        pool=plain,
    )
    if hint:
        # Karpenter guesses by the spelling alone.
        advice = phrase("{advice}. If the key is a typo of `{hint}`, correct it in the pod", hint=hint, advice=advice)
    short = phrase("{pool} does not define the label `{key}`", pool=bare_pool(reason), key=key)
    return PoolFinding(reason, Stage.LABELS, said, advice, short, missing=key)


def _unknown(reason: PoolReason, pool: Phrase) -> PoolFinding:
    said = phrase("{pool} does not match the pod, for the reason in Karpenter's message", pool=pool)
    advice = phrase("Compare the pod with {pool}: `{command}`", pool=pool_again(reason), command=command_for(reason))
    return PoolFinding(reason, Stage.UNKNOWN, said, advice, None)


def _merged(findings: Sequence[PoolFinding]) -> list[PoolFinding]:
    """The findings; those about the same label are one, and so are the taints of NodePools without a name, and other names."""
    groups: dict[str, list[PoolFinding]] = {}
    for number, each in enumerate(findings):
        is_unnamed_taint = "taint" in each.said.values and not each.reason.pool
        is_shared = is_unnamed_taint or each.stage is Stage.OTHER_POOL
        groups.setdefault(f"{each.stage.name} {each.missing}" if each.missing or is_shared else f"{number}", []).append(each)
    return [same[0] if len(same) == 1 else _together(same) for same in groups.values()]


def _together(same: Sequence[PoolFinding]) -> PoolFinding:
    """Findings that say the same about several NodePools."""
    first = same[0]
    if first.stage is Stage.OTHER_POOL:
        return first
    if first.stage is Stage.TAINTS:
        taints = some([f"`{each.said.values['taint']}`" for each in same])
        return first._replace(
            said=phrase("the NodePools have taints that the pod does not tolerate: {taints}", taints=taints),
            advice=phrase("Add a toleration for the taints of the NodePool that the pod belongs in: `kubectl get nodepools -o yaml`"),
            short=phrase("others have the taints {taints}", taints=taints),
        )
    names = [f"`{each.reason.pool}`" for each in same if each.reason.pool]
    said = phrase("no NodePool defines the label `{key}`, which the pod requires", key=first.missing)
    if names:
        said = phrase(
            ("none of the NodePools {pools} defines the label `{key}`, which the pod requires"), pools=some(names), key=first.missing
        )
    return first._replace(
        said=said,
        advice=phrase(
            "Add the label `{key}` to the NodePool that the pod belongs in, or remove it from the pod's node selector and affinity",
            key=first.missing,
        ),
        short=phrase("{pools} do not define the label `{key}`", pools=some(names), key=first.missing) if names else said,
    )


def _leading(findings: Sequence[PoolFinding]) -> list[PoolFinding]:
    """Those that the first sentence names: the closest, and another one that may be meant as well."""
    first, *others = findings
    if first.stage is Stage.POD or first.is_selected or not others:
        return [first]
    second = others[0]
    is_only_other = len(others) == 1 and first.stage < Stage.VOLUMES and bool(second.reason.pool) and second.stage is not Stage.UNKNOWN
    return [first, second] if second.stage >= Stage.VOLUMES or is_only_other else [first]


def _advice_about(leading: Sequence[PoolFinding]) -> Phrase:
    """What to do about the closest NodePool, and about the other one that the sentence names, if the pod may belong there instead."""
    first, *others = (each.advice for each in leading)
    if not others or not others[0].template.startswith(_IF_ELSEWHERE):
        return first
    return Phrase("{first}. {next}", {"first": first, "next": others[0]})


def _note(findings: Sequence[PoolFinding], leading: Sequence[PoolFinding]) -> Phrase | None:
    """What else instance types have to meet, and why the other NodePools are no use."""
    required = next((phrase("Instance types must meet: {details}.", details=each.required) for each in leading if each.required), None)
    found = _of_other_pools(findings, leading)
    return joined([each for each in (required, found) if each is not None], "{first} {next}") if required or found else None


def _of_other_pools(findings: Sequence[PoolFinding], leading: Sequence[PoolFinding]) -> Phrase | None:
    others = [each for each in findings if each not in leading and each.short is not None]
    shorts = list({each.short.text: each.short for each in others if each.short is not None}.values())
    if not shorts:
        return None
    pools = joined(shorts[:_MAX_OTHERS], "{first}; {next}")
    if (more := len(shorts) - _MAX_OTHERS) > 0:
        pools = phrase("{pools}; and {count} more", pools=pools, count=more)
    if all(each.reason.kind == "Provisioner" for each in others):
        return phrase("Other Provisioners do not match the pod: {pools}.", pools=pools)
    return phrase("Other NodePools do not match the pod: {pools}.", pools=pools)
