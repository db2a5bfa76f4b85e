"""`refusal_of_object` and `clause_of_object`: what Karpenter says about a NodeClaim, a NodePool or a node class that gives no node."""

from __future__ import annotations

import re
from typing import Final

from schedviz.explain.autoscalers.refusal import Refusal
from schedviz.explain.explanation import Clause
from schedviz.explain.reason_tables.autoscalers import KARPENTER
from schedviz.trace.phrase import Phrase, as_sentence, phrase

#: The form of `ingest/pasted/karpenter_states.py`.
_SAID: Final = re.compile(
    r"(?P<kind>NodeClaim|NodePool|EC2NodeClass|Provisioner)(?: (?P<name>[^\s:]++))?: "
    r"(?:(?P<type>[A-Z]\w++)=(?P<status>True|False|Unknown)(?: \((?P<reason>[^()]*+)\))?(?:: (?P<why>.*))?|(?P<none>none found)|"
    r"(?P<said>.+))",
    re.DOTALL,
)
#: Words that add nothing to the condition.
_EMPTY: Final = re.compile(
    r"object is awaiting reconciliation|Node not registered with cluster|not ready|\w+=(?:Unknown|False)(?:, \w+=(?:Unknown|False))*|",
    re.IGNORECASE,
)
_CAPACITY: Final = re.compile(r"insufficient ?capacity|unavailable during launch|unfulfillable", re.IGNORECASE)
_DENIED: Final = re.compile(r"unauthorized|not authorized|access ?denied|permission", re.IGNORECASE)
_TAINTS: Final = re.compile(r"(?:startup )?taint", re.IGNORECASE)
#: What to do if the cloud denies a call of Karpenter.
_GRANT: Final = phrase("Give Karpenter's IAM role the permission that the error names")
_PLURALS: Final = {"NodeClaim": "nodeclaims", "NodePool": "nodepools", "EC2NodeClass": "ec2nodeclasses", "Provisioner": "provisioners"}


def refusal_of_object(message: str) -> Refusal | None:
    """The message as a sentence, and what to do; None for another text."""
    found = _explained(message)
    if found is None:
        return None
    said, why, advice = found
    return Refusal(phrase("{sentence}.", sentence=_with_reason(Phrase(as_sentence(said.template), said.values), why)), advice)


def clause_of_object(message: str) -> Clause | None:
    """The same as a clause."""
    found = _explained(message)
    if found is None:
        return None
    said, advice = _with_reason(found[0], found[1]), found[2]
    return Clause(0, message, KARPENTER, "", ()).with_phrases(headline=said, advice=advice)


def _explained(message: str) -> tuple[Phrase, str, Phrase] | None:
    """What is wrong, why if the message says more than the condition, and what to do."""
    said = _SAID.fullmatch(message)
    if said is None:
        return None
    kind, name = said["kind"], said["name"] or ""
    object_ = phrase("{kind} `{name}`", kind=kind, name=name) if name else phrase("the {kind}", kind=kind)
    command = f"kubectl describe {_PLURALS[kind].removesuffix('s') if name and kind != 'EC2NodeClass' else _PLURALS[kind]} {name}".strip()
    if said["none"]:
        return (
            phrase("Karpenter adds no nodes: it finds no {kind} that is ready", kind=kind),
            "",
            phrase(
                "Check that a {kind} exists and that it and its node class are ready: `kubectl get {plural}` and `kubectl describe "
                "{plural}`",
                kind=kind,
                plural=_PLURALS[kind],
            ),
        )
    given = said["why"] or said["said"] or ""
    why = "" if _EMPTY.fullmatch(given) else given.rstrip(". ")
    if kind == "NodeClaim":
        # What the log says about a NodeClaim is about its launch.
        sentence, advice = _claim_sentences(object_, said["type"] or "Launched", why, command)
    else:
        sentence, advice = _pool_sentences(kind, object_, said["type"] or "Ready", why, command)
    return sentence, why, advice


def _claim_sentences(claim: Phrase, condition: str, why: str, command: str) -> tuple[Phrase, Phrase]:
    if condition == "Launched":
        sentence = phrase("Karpenter could not launch a machine for {claim}", claim=claim)
        advice = phrase("Run `{command}`: its events have the error of the cloud", command=command)
        if _CAPACITY.search(why):
            advice = phrase(
                "Allow more instance types, zones, or capacity types in the NodePool: the cloud has no capacity for the allowed ones. "
                "Karpenter retries by itself"
            )
        elif _DENIED.search(why):
            advice = _GRANT
    elif condition == "Registered":
        sentence = phrase("the machine of {claim} was launched, but has not joined the cluster as a node", claim=claim)
        advice = phrase(
            "Read the kubelet's log on the machine (`journalctl -u kubelet`). Usual reasons: the node role is not mapped "
            "in aws-auth or an access entry, the security group or the subnet blocks access to the API server, or the AMI "
            "or its user data is not suitable"
        )
        if _TAINTS.search(why):
            advice = phrase("Start the kubelet with the taint that the message names: with a custom AMI, your user data has to set it")
    else:
        sentence = phrase("the node of {claim} has joined, but is not initialized", claim=claim)
        advice = phrase(
            "Find out what the node still lacks: its Ready condition, the removal of a startup taint, or a resource that "
            "no device plugin offers. Run `kubectl describe node` and `{command}`",
            command=command,
        )
    return sentence, advice


def _pool_sentences(kind: str, object_: Phrase, condition: str, why: str, command: str) -> tuple[Phrase, Phrase]:
    if condition == "NodeRegistrationHealthy":
        sentence = phrase("machines of {pool} are launched, but do not join the cluster as nodes", pool=object_)
        advice = phrase("Run `kubectl get nodeclaims`, and describe one whose NODE column is empty")
    elif kind == "EC2NodeClass":
        sentence = phrase(
            "{pool} is not ready ({condition}), so Karpenter ignores the NodePools that refer to it", pool=object_, condition=condition
        )
        advice = phrase(
            "Correct the part of the node class that the condition names, such as its role or its selectors for subnets, "
            "security groups, or AMIs: `{command}`",
            command=command,
        )
        if _DENIED.search(why):
            advice = _GRANT
    elif condition == "ValidationSucceeded":
        sentence = phrase("the spec of {pool} is not valid, so Karpenter ignores it", pool=object_)
        advice = phrase("Correct the field that the message names: `{command}`", command=command)
    elif condition == "NodeClassReady":
        sentence = phrase("{pool} is not ready because its node class is not, so Karpenter ignores it", pool=object_)
        advice = phrase(
            "Describe the node class to which `spec.template.spec.nodeClassRef` refers, on AWS with `kubectl describe ec2nodeclasses`: its "
            "conditions name what is missing, such as subnets, security groups, AMIs, or permissions"
        )
    else:
        sentence = phrase("{pool} is not ready, so Karpenter ignores it", pool=object_)
        advice = phrase(
            "Find out which condition is not true: `{command}`. Most often it is NodeClassReady: describe the node class too, with "
            "`kubectl describe ec2nodeclasses` on AWS",
            command=command,
        )
    return sentence, advice


def _with_reason(sentence: Phrase, why: str) -> Phrase:
    return phrase("{sentence}: {why}", sentence=sentence, why=why) if why else sentence
