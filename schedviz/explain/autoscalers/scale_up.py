"""`coming`: that an autoscaler adds a node for a pod, and whether the node should have come by now."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from schedviz.explain.reason_tables.autoscalers import CLUSTER_AUTOSCALER, KARPENTER
from schedviz.trace.phrase import Phrase, counted, joined, phrase

#: A node group in the event of a scale-up, without the address of its cloud: `{asg-a 3->4 (max: 10)}`.
_GROUP: Final = re.compile(
    r"\{(?:[^\s{}]*/)?(?P<group>[^\s/{}]+) (?P<before>\d{1,9})->(?P<after>\d{1,9})(?: \(max: (?P<maximum>\d{1,9})\))?\}"
)
_TRIGGERED: Final = re.compile(r"pod triggered scale-up", re.IGNORECASE)
_NOMINATED: Final = re.compile(r"pod should schedule on: (?P<on>.*)", re.IGNORECASE)
_CLAIM: Final = re.compile(r"(?P<kind>nodeclaim|machine)/(?P<name>[a-z0-9*][a-z0-9.*-]*+)")
_NODE: Final = re.compile(r"(?:\bnode/|^)(?P<name>[a-z0-9*][a-z0-9.*-]*+)(?!/)")
#: The cluster autoscaler's --max-node-provision-time and Karpenter's time for a node to register, in seconds.
A_NODE_TAKES: Final = 900
#: Karpenter repeats its nomination every two minutes while the pod is pending: so many in so many seconds are no coincidence.
_REPEATED: Final = 3
_STUCK_SECONDS: Final = 300
#: Karpenter may nominate several NodeClaims at once; another one so many seconds later replaces one that gave no node.
_REPLACED_SECONDS: Final = 240


class Coming(NamedTuple):
    """What an autoscaler said about a node for the pod."""

    sentence: Phrase
    advice: Phrase
    #: The node should have come by now.
    is_late: bool


class Repeats(NamedTuple):
    """How often an event was repeated, and since how many seconds, with the span as it is printed."""

    times: int = 1
    seconds: float = 0
    span: str = ""


class Earlier(NamedTuple):
    """An earlier event of the same autoscaler, and how many seconds it was sent before."""

    message: str
    seconds: float


def coming(message: str, at: str, age: float, repeats: Repeats, *, is_rejected: bool, earlier: Sequence[Earlier] = ()) -> Coming | None:
    """What the event says; None for another text.

    `at`: "60s ago", or RFC 3339, of which `age` is infinite. `is_rejected`: the scheduler has rejected every node since then.
    `earlier`: the events before, the newest first.
    """
    if _TRIGGERED.match(message):
        return _triggered(message, at, age)
    nominated = _NOMINATED.match(message)
    if nominated is None:
        return None
    if (vain := _after_another(nominated["on"], earlier)) is not None:
        return vain
    return _nominated(nominated["on"], at, age, repeats, is_rejected=is_rejected)


def _after_another(on: str, earlier: Sequence[Earlier]) -> Coming | None:
    """That Karpenter nominated one NodeClaim after another; None if it nominated one, or within the time that one takes."""
    claim = _CLAIM.search(on)
    claims = [(found, each.seconds) for each in earlier if (found := _CLAIM.search(each.message)) is not None]
    others = [(found, seconds) for found, seconds in claims if claim is not None and found["name"] != claim["name"]]
    if claim is None or not others or not _REPLACED_SECONDS <= others[-1][1] < float("inf"):
        return None
    first, seconds = others[-1]
    minutes = counted(round(seconds / 60), "{count} minute", "{count} minutes")
    kind = "Machine" if claim["kind"] == "machine" else "NodeClaim"
    values: dict[str, str | Phrase] = {"kind": kind, "first": first["name"], "name": claim["name"], "minutes": minutes}
    earlier_ones = len({found["name"] for found, _ in others})
    if earlier_ones > 1:
        sentence = phrase(
            "Karpenter nominated {count} {kind}s in {minutes}, most recently `{name}`, but the pod is still pending.",
            **values,
            count=earlier_ones + 1,
        )
    else:
        sentence = phrase("Karpenter nominated {kind} `{first}` and, {minutes} later, `{name}`, but the pod is still pending.", **values)
    advice = phrase(
        "Run `kubectl describe {resource} {name}`: its conditions and events show whether launch, registration, or initialization failed. "
        "If its node is ready, compare the pod's requests and constraints with `kubectl describe node`",
        resource=claim["kind"],
        name=claim["name"],
    )
    return Coming(sentence, advice, is_late=True)


def when(at: str) -> Phrase:
    """The time of an event inside a sentence: `5m ago`, or `at 2026-03-10T23:24:22Z`."""
    return Phrase("{when}", {"when": at}) if at.endswith(" ago") else phrase("at {when}", when=at)


def writer_and_headline(message: str) -> tuple[str, Phrase] | None:
    """Which autoscaler sent the event, and the event in one sentence without a full stop and without its time; None for another text."""
    if _TRIGGERED.match(message):
        return CLUSTER_AUTOSCALER, _scaling(message)
    nominated = _NOMINATED.match(message)
    return None if nominated is None else (KARPENTER, _expected(_target(nominated["on"])[0]))


def what_was_added(message: str) -> Phrase | None:
    """The event in the past tense, after "since"; None for another text."""
    if _TRIGGERED.match(message):
        return phrase("the cluster autoscaler started a scale-up")
    nominated = _NOMINATED.match(message)
    return None if nominated is None else phrase("Karpenter nominated {target}", target=_target(nominated["on"])[0])


class NominatedClaim(NamedTuple):
    """What Karpenter launches for a pod: a NodeClaim, or a Machine."""

    phrase: Phrase
    resource: str
    name: str


def nominated_claim(message: str) -> NominatedClaim | None:
    """The NodeClaim or the Machine of a nomination; None for one of a node, and for another text."""
    nominated = _NOMINATED.match(message)
    claim = _CLAIM.search(nominated["on"]) if nominated is not None else None
    return None if nominated is None or claim is None else NominatedClaim(_target(nominated["on"])[0], claim["kind"], claim["name"])


def _scaling(message: str) -> Phrase:
    groups = [_group(each) for each in _GROUP.finditer(message)]
    if not groups:
        return phrase("the cluster autoscaler started to add nodes")
    return phrase("the cluster autoscaler started scaling {groups}", groups=joined(groups, "{first} and {next}", maximum=3))


def _triggered(message: str, at: str, age: float) -> Coming:
    what = _scaling(message)
    if A_NODE_TAKES < age < float("inf"):
        sentence = phrase("The pod is still pending, although a node should have joined by now: {when}, {what}.", when=when(at), what=what)
        return Coming(sentence, _LATE, is_late=True)
    sentence = (
        phrase("A node is being added: {when}, {what}.", what=what, when=when(at))
        if at
        else phrase("A node is being added: {what}.", what=what)
    )
    return Coming(sentence, _WAIT, is_late=False)


def _group(found: re.Match[str]) -> Phrase:
    nodes = counted(int(found["after"]), "{count} node", "{count} nodes")
    values: dict[str, str | Phrase] = {"group": found["group"], "before": found["before"], "nodes": nodes}
    if found["maximum"] is None:
        return phrase("node group {group} from {before} to {nodes}", **values)
    return phrase("node group {group} from {before} to {nodes} (maximum: {maximum})", **values, maximum=found["maximum"])


def _target(on: str) -> tuple[Phrase, str, str]:
    """What Karpenter has chosen, the node if it has a name, and the command that shows the NodeClaim."""
    claim, found = _CLAIM.search(on), _NODE.search(on)
    node = found["name"] if found is not None else ""
    command = f"kubectl describe {claim['kind']} {claim['name']}" if claim is not None else "kubectl get nodeclaims"
    if node:
        return phrase("the node `{name}`", name=node), node, command
    if claim is None:
        return phrase("a new node"), "", command
    if claim["kind"] == "machine":
        return phrase("Machine `{name}`", name=claim["name"]), "", command
    return phrase("NodeClaim `{name}`", name=claim["name"]), "", command


def _expected(target: Phrase) -> Phrase:
    return phrase("Karpenter nominated {target} for the pod", target=target)


def _nominated(on: str, at: str, age: float, repeats: Repeats, *, is_rejected: bool) -> Coming:
    target, node, command = _target(on)
    is_repeated = repeats.times >= _REPEATED and repeats.seconds >= _STUCK_SECONDS
    if node and is_rejected and not is_repeated and not A_NODE_TAKES < age < float("inf"):
        return _contradicted(target, node, at, command)
    if not is_repeated and not A_NODE_TAKES < age < float("inf"):
        said = _expected(target) if node else phrase("A node is being added: {what}", what=_expected(target))
        sentence = phrase("{said} {when}.", said=said, when=when(at)) if at else phrase("{said}.", said=said)
        advice = phrase("Wait for the node. If the pod is still pending after a few minutes, run `{command}`", command=command)
        return Coming(sentence, advice, is_late=False)
    nominated = (
        phrase("Karpenter has nominated {target} {times} times in {span}", target=target, times=repeats.times, span=repeats.span)
        if is_repeated
        else phrase("Karpenter nominated {target} {when}", target=target, when=when(at))
    )
    sentence = (
        phrase("{nominated}, but the scheduler still rejects every node.", nominated=nominated)
        if is_rejected
        else phrase("{nominated}, but the pod is still pending.", nominated=nominated)
    )
    advice = phrase("Check whether the node was launched and has joined: `{command}`", command=command)
    if node:
        advice = phrase(
            "Compare the pod's requests, tolerations, affinity, and volumes with that node: `kubectl describe node {node}` and `{command}`",
            node=node,
            command=command,
        )
    return Coming(sentence, advice, is_late=True)


def _contradicted(target: Phrase, node: str, at: str, command: str) -> Coming:
    """That the scheduler rejects a node which has joined and which Karpenter has chosen."""
    sentence = phrase(
        "Karpenter nominated {target} {when}, but kube-scheduler rejects every node, including that one.", target=target, when=when(at)
    )
    advice = phrase(
        "Find out which of kube-scheduler's reasons applies to that node: compare the pod's topology spread constraints, affinity, "
        "tolerations, requests, and volumes with `kubectl describe node {node}`. If its taints show that it is not ready yet, wait for it: "
        "`{command}`",
        node=node,
        command=command,
    )
    return Coming(sentence, advice, is_late=True)


_WAIT: Final = phrase(
    "Wait for the node: `kubectl get nodes -w`. If none joins within 15 minutes, run `kubectl -n kube-system describe configmap "
    "cluster-autoscaler-status`"
)
_LATE: Final = phrase(
    "Check whether the node has joined: `kubectl get nodes --sort-by=.metadata.creationTimestamp`. If it has, compare its taints "
    "and labels "
    "with the pod. If not, run `kubectl -n kube-system describe configmap cluster-autoscaler-status`"
)
