"""`facts_in`: reads what a copied text says besides its messages: nodes of pods, warnings that are not about scheduling, and more.

It reads rows of events, described pods and nodes, objects, tables, and logs. Messages of the scheduler in text are found by
`pasted_text.py`; `object_events.py` reads the warnings among the Event objects of a dump (`ObjectEvent`), and `events.py` decodes a single
one (`Event`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Final

import msgspec

from schedviz.ingest.kubectl.described_objects import described_nodes
from schedviz.ingest.kubectl.tables import tables
from schedviz.ingest.pasted.copied_text import CopiedText
from schedviz.ingest.pasted.line_bounds import line_start
from schedviz.ingest.pasted.message_times import log_time
from schedviz.ingest.pasted.node_objects import node_objects
from schedviz.ingest.pasted.pod_objects import pod_of
from schedviz.ingest.pasted.pod_positions import PodPositions
from schedviz.ingest.pasted.pod_states import key_of_row
from schedviz.ingest.pasted.printed_labels import printed_labels, printed_selectors
from schedviz.kube.event_reasons import CLAIM_FAILURES, FAILED_BINDING, NO_VOLUME_MESSAGE, NODE_NOT_READY, PREEMPTED
from schedviz.kube.text_facts import (
    BoundClaim,
    BrokenNode,
    DeletedPod,
    DescribedNode,
    FailedClaim,
    LackingClaim,
    NodeCapacity,
    NominatedPod,
    PendingPod,
    PlacedPod,
    PodProgress,
    PodWarning,
    PoolError,
    PrintedLabels,
    PrintedSelector,
    TextFact,
)

#: An event in a row of `kubectl get events`, of `kubectl events` or of the events of `kubectl describe`.
_ROW: Final = re.compile(
    r"^(?P<before>[^\n]{0,120}?)\b(?P<type>Normal|Warning)[ \t]++(?P<reason>[A-Z][A-Za-z]{2,60})[ \t]++(?P<rest>[^\n]++)$", re.MULTILINE
)
_AGE: Final = re.compile(r"(?P<age>(?:\d++[smhdy])++)(?:[ \t]\((?:x\d++ over [^()\n]*+|combined [^()\n]*+)\))?")
_OBJECT: Final = re.compile(r"(?P<kind>[A-Za-z.]++)/(?P<name>[a-z0-9.*-]++)[ \t]++")
#: What sent an event of `kubectl describe`, after its age.
_FROM: Final = re.compile(r"[a-z][a-z0-9._-]*+(?:,[ \t]\S++)?[ \t]++")
_ASSIGNED: Final = re.compile(r"Successfully assigned (?P<pod>[a-z0-9./*-]++) to (?P<node>[a-z0-9.*-]++)")
#: A line of the scheduler's log about a pod that was bound; before 1.19 `pod shop/web is bound successfully on node "a"`.
_BOUND: Final = re.compile(
    r"""Successfully bound pod to node"[ \t]++pod="(?P<pod>[a-z0-9.*-]++/[a-z0-9.*-]++)"[ \t]++node="(?P<node>[a-z0-9.*-]++)"|"""
    r"""\bpod (?P<old_pod>[a-z0-9.-]++/[a-z0-9.-]++) is bound successfully on node "?(?P<old_node>[a-z0-9][a-z0-9.-]*+)"""
)
#: A claim that the scheduler's log says is bound, and its volume.
_BOUND_CLAIM: Final = re.compile(r'\bclaim "(?P<claim>[a-z0-9.-]++/[a-z0-9.-]++)" bound to volume "(?P<volume>[a-z0-9.-]++)"')
#: A claim for which the scheduler's log says that a node has no access to enough storage. Upstream: pkg/scheduler/framework/plugins/
#: volumebinding/binder.go hasEnoughCapacity
_LACKING_CLAIM: Final = re.compile(
    r'"Node has no accessible CSIStorageCapacity with enough capacity"[ \t]++pod="(?P<pod>[a-z0-9.-]++/[a-z0-9.-]++)"[ \t]++'
    r'node="[^"\n]*+"[ \t]++pvc="(?P<claim>[a-z0-9.-]++/[a-z0-9.-]++)"[ \t]++pvcSize=(?P<bytes>\d{1,18}+)[ \t]++'
    r'sc="(?P<class>[a-z0-9.-]++)"'
)
#: How far before it the line may begin.
_LINE: Final = 1_000
#: An error in Karpenter's log, and the NodePool that it is about: a value of the line, or a word of the message.
_ERROR: Final = re.compile(r'"error": ?"((?:[^"\\\n]|\\.)++)"')
_POOL: Final = re.compile(
    r'"(?:[Nn]ode[Pp]ool|[Pp]rovisioner)": ?(?:\{"name": ?)?"(?P<value>[a-z0-9*][a-z0-9.*-]*+)"'
    r"|instance types for (?P<word>[a-z0-9*][a-z0-9.*-]*+)"
)
_OF_POD: Final = re.compile(r'"[Pp]ods?": ?["{]')
#: The same as a message without an error: Karpenter skips the NodePool, because it has no instance types.
_SKIPPED: Final = re.compile(
    r"\bskipping, ((?:unable to resolve instance types, |no resolved instance types found)"
    r'(?:[^"\\\n\t{]|\\"|"(?=[^\s,"]{1,253}" not found| not found))*+)'
)
#: The allocatable amounts of a described node.
_ALLOCATABLE: Final = re.compile(r"^Allocatable:[ \t]*+\n(?P<amounts>(?:[ \t]++\S++[ \t]++\S++[ \t]*+(?:\n|\Z))++)", re.MULTILINE)
#: What the pods of a described node request in total.
_ALLOCATED: Final = re.compile(r"^Allocated resources:[ \t]*+\n(?P<rows>(?:[ \t]++\S[^\n]*+(?:\n|\Z))++)", re.MULTILINE)
_REQUESTED: Final = re.compile(r"^[ \t]++(?P<resource>[a-z0-9][a-zA-Z0-9./-]*+)[ \t]++(?P<amount>\d[\w.]{0,30})[ \t]", re.MULTILINE)
#: The node of a described pod. `Node: <none>` is none.
_NODE: Final = re.compile(r"^[ \t]*+Node:[ \t]++(?P<node>[a-z0-9*][a-z0-9.*-]*+)(?:/|[ \t]*+$)", re.MULTILINE)
#: The node for which a described pod is nominated.
_NOMINATED: Final = re.compile(r"^[ \t]*+NominatedNodeName:[ \t]++(?P<node>[a-z0-9*][a-z0-9.*-]*+)[ \t]*+$", re.MULTILINE)
#: Warnings that messages explain.
_EXPLAINED: Final = frozenset({"FailedScheduling", "FailedScaleUp", "NotTriggerScaleUp", "FailedCreate", "Unschedulable"})
#: What sends the event that there is no volume for a claim, where the line is broken before the message.
_VOLUME_CONTROLLER: Final = "persistentvolume-controller"
#: That the owner of a pod deleted it: of a ReplicaSet, a Job or a DaemonSet, whose pods have names of their own.
_DELETED: Final = re.compile(r"Deleted pod: (?P<name>[a-z0-9][a-z0-9.-]{0,252})")
#: The reasons of events that end what the kubelet complained about before.
_PROGRESS: Final = ("Started", "SuccessfulAttachVolume")
#: The longest message that is kept, in characters.
_MAX_LENGTH: Final = 500


def facts_in(copied: CopiedText) -> list[TextFact]:
    """The facts in a text, in order. A described pod with a node counts as placed at an unknown time, before its events."""
    if copied.items:
        # A log whose lines are JSON begins as an object does.
        of_items = (fact for item in copied.items if (fact := _fact_of_object(item)) is not None)
        return [*of_items, *_pool_errors(copied.text), *_node_objects(copied)]
    text = copied.lines
    described = PodPositions(text)
    unordered = (
        *_pool_errors(text),
        *_described_nodes(text),
        *_node_objects(copied),
        *_bound_claims(text),
        *_listed_pods_and_nodes(text),
        *_printed(text),
        *_lacking_claims(text),
    )
    found: list[TextFact] = [*unordered]
    places = (*_ROW.finditer(text), *_NODE.finditer(text), *_NOMINATED.finditer(text), *_BOUND.finditer(text))
    for place in sorted(places, key=lambda match: match.start()):
        if place.re is _BOUND:
            found.append(_placed_in_log(place, text))
            continue
        pod = described.pod_before(place.start())
        if place.re is _ROW and place["reason"] in CLAIM_FAILURES:
            pod = described.claim_before(place.start(), pod)
        fact = _fact_of_row(place, pod) if place.re is _ROW else _fact_of_field(place, pod) if pod else None
        if fact is not None:
            found.append(fact)
    return found


def _fact_of_field(field: re.Match[str], pod: str) -> PlacedPod | NominatedPod:
    """The node of a described pod, or the one that it is nominated to."""
    return PlacedPod(pod, "", field["node"]) if field.re is _NODE else NominatedPod(pod, field["node"])


def _placed_in_log(bound: re.Match[str], text: str) -> PlacedPod:
    """The pod that the scheduler's log reports as bound."""
    at = log_time(text[line_start(text, bound.start(), _LINE) : bound.start()])
    return PlacedPod(bound["pod"] or bound["old_pod"], at, bound["node"] or bound["old_node"])


def _pool_errors(text: str) -> Iterator[PoolError]:
    """The errors about NodePools in Karpenter's log, each once."""
    if '"error"' not in text and "skipping, " not in text:
        return
    seen: set[tuple[str, str]] = set()
    for line in text.split("\n"):
        error = _ERROR.search(line) or _SKIPPED.search(line)
        if error is None or _OF_POD.search(line) or (named := _POOL.search(line)) is None:
            continue
        pool, message = named["value"] or named["word"], error[1].replace('\\"', '"').strip()[:_MAX_LENGTH]
        if (pool, message) not in seen:
            seen.add((pool, message))
            yield PoolError(pool, message)


def _bound_claims(text: str) -> Iterator[BoundClaim]:
    """The claims that the scheduler's log says are bound."""
    for bound in _BOUND_CLAIM.finditer(text):
        yield BoundClaim(bound["claim"], bound["volume"])


def _lacking_claims(text: str) -> Iterator[LackingClaim]:
    """The claims for which a node has no access to enough storage."""
    for lacking in _LACKING_CLAIM.finditer(text):
        yield LackingClaim(lacking["pod"], lacking["claim"], int(lacking["bytes"]), lacking["class"])


def _listed_pods_and_nodes(text: str) -> Iterator[PendingPod | BrokenNode]:
    """The pods that tables list as Pending, and the nodes that they list as not ready."""
    for table in tables(text):
        for row in table.rows if table.is_of_pods else ():
            if row.get("STATUS") == "Pending":
                yield PendingPod(key_of_row(row))
        for row in table.rows if table.is_of_nodes else ():
            if row.get("STATUS", "").partition(",")[0] == "NotReady":
                yield BrokenNode(row["NAME"])


def _printed(text: str) -> Iterator[PrintedSelector | PrintedLabels]:
    """The node selectors and the labels of nodes that commands print."""
    yield from (PrintedSelector(selector) for selector in printed_selectors(text) if selector)
    yield from (PrintedLabels(labels) for labels in printed_labels(text) if labels)


def _described_nodes(text: str) -> Iterator[DescribedNode | NodeCapacity]:
    """What each described node is, and what it offers. A description may lack its beginning or its end."""
    yield from (node for node in described_nodes(text) if node.name)
    described = list(_ALLOCATABLE.finditer(text))
    for each, next_ in itertools.zip_longest(described, described[1:]):
        rows = (row.split() for row in each["amounts"].splitlines())
        total = _ALLOCATED.search(text, each.end(), next_.start() if next_ is not None else len(text))
        requested = {row["resource"]: row["amount"] for row in _REQUESTED.finditer(total["rows"])} if total is not None else {}
        yield NodeCapacity("", {row[0].rstrip(":"): row[1] for row in rows}, requested)


def _node_objects(text: CopiedText) -> Iterator[DescribedNode | NodeCapacity]:
    """The same of each Node object."""
    for node in node_objects(text):
        name, taints = node.metadata.name, node.taints
        if name:
            yield DescribedNode(name, tuple(taints), tuple(taints.values()), node.spec.unschedulable, node.unready)
        if node.status.allocatable:
            yield NodeCapacity(name, node.status.allocatable, {})


def _fact_of_row(row: re.Match[str], described: str) -> TextFact | None:
    """What an event in a row says. `described`: the pod, or the claim, whose description has the row."""
    rest = row["rest"]
    if (about := _OBJECT.match(rest)) is not None:
        # A table of events: `[NAMESPACE] LAST-SEEN TYPE REASON OBJECT MESSAGE`.
        ages = list(_AGE.finditer(row["before"]))
        namespace = row["before"][: ages[0].start()].strip() if ages else row["before"].strip()
        at = f"{ages[0]['age']} ago" if ages else ""
        return _fact_of_event(
            about["kind"], f"{namespace or 'default'}/{about['name']}", at, row["reason"], rest[about.end() :], row["type"]
        )
    age = _AGE.match(rest)
    rest = rest[age.end() :].lstrip() if age is not None else rest
    sender = _FROM.match(rest)
    message = rest[sender.end() :] if sender is not None else rest
    return _fact_of_event("Pod", described, f"{age['age']} ago" if age is not None else "", row["reason"], message, row["type"])


def _fact_of_object(item: msgspec.Raw | dict[str, object]) -> TextFact | None:
    from schedviz.ingest.events import event_of, time_of

    if (event := event_of(item)) is None:
        pod = pod_of(item)
        return PlacedPod(pod.key, "", pod.spec.node_name) if pod is not None and pod.spec.node_name else None
    about = event.about
    message = event.message or event.note
    return _fact_of_event(about.kind, f"{about.namespace or 'default'}/{about.name}", time_of(event), event.reason, message, event.type)


def _fact_of_event(kind: str, name: str, at: str, reason: str, message: str, severity: str) -> TextFact | None:
    message = " ".join(message.split())[:_MAX_LENGTH]
    if reason == FAILED_BINDING and (message == _VOLUME_CONTROLLER or NO_VOLUME_MESSAGE.startswith(message)):
        # The line was broken within the message.
        message = NO_VOLUME_MESSAGE
    if reason in CLAIM_FAILURES and message:
        # Only claims have it, also in `kubectl describe`, which does not name the kind.
        return FailedClaim(name, at, message)
    if kind.lower() == "node" and reason == NODE_NOT_READY:
        return BrokenNode(name.rpartition("/")[2])
    if reason == "SuccessfulDelete" and (deleted := _DELETED.match(message)) is not None and "/" in name:
        return DeletedPod(f"{name.partition('/')[0]}/{deleted['name']}", at)
    if kind.lower() in ("pod", "") and reason == PREEMPTED:
        return PodWarning(name, at, reason, message)
    if kind.lower() not in ("pod", ""):
        return None
    if reason == "Scheduled" and (assigned := _ASSIGNED.search(message)) is not None:
        return PlacedPod(assigned["pod"] if "/" in assigned["pod"] else name, at, assigned["node"])
    if reason in _PROGRESS and severity == "Normal":
        return PodProgress(name, at, reason)
    if severity != "Warning" or reason in _EXPLAINED or not message:
        return None
    return PodWarning(name, at, reason, message)
