"""Reads events in pasted text (`TextEvent`): which pods have a node, and which warnings are not about scheduling.

It reads rows of events, described pods, Event objects, and logs. Messages of the scheduler in text are found by `pasted_text.py`;
`object_events.py` reads the warnings among the Event objects of a dump (`ObjectEvent`), and `events.py` decodes a single one (`Event`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Final

import msgspec

from schedviz.ingest.kubectl.described_objects import described_nodes
from schedviz.ingest.kubectl.tables import tables
from schedviz.ingest.logs.json_log_lines import with_text_lines
from schedviz.ingest.pasted.node_objects import node_objects
from schedviz.ingest.pasted.pasted_text import DescribedPods, items_in, line_start, log_time, plain
from schedviz.ingest.pasted.pod_objects import pod_of
from schedviz.ingest.pasted.pod_states import key_of_row
from schedviz.ingest.pasted.printed_labels import printed_labels, printed_selectors
from schedviz.kube.event_reasons import CLAIM_FAILURES, FAILED_BINDING, NO_VOLUME_MESSAGE, NODE_NOT_READY, PREEMPTED

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


class TextEvent(msgspec.Struct, frozen=True):
    """An event about a pod: that it was placed on a node, or a warning that is not about scheduling. Or a claim's failed provisioning."""

    #: `namespace/name`; "": the text does not name it, or the event is about a claim.
    pod: str
    #: "5m ago", or RFC 3339; "": unknown.
    at: str
    #: The node that the pod was placed on; "" for a warning.
    node: str = ""
    #: The reason and the message of a warning.
    reason: str = ""
    message: str = ""
    #: The claim that the event is about, `namespace/name`; "": it is about a pod.
    claim: str = ""
    #: The node that is not ready, by an event about it; "": the event is about something else.
    broken_node: str = ""
    #: The node that the described pod is nominated to; "": it is not, or this is an event.
    nominated_node: str = ""
    #: The NodePool about which Karpenter's log has an error, which is the message; "": it is about something else.
    pool: str = ""
    #: The claim that the scheduler's log says is bound, `namespace/name`, and its volume; "": it is about something else.
    bound_claim: str = ""
    volume: str = ""
    #: The allocatable amount of each resource of a described node.
    offers: dict[str, str] = {}
    #: What its pods request in total of each resource.
    requested: dict[str, str] = {}
    #: A node that the text describes, its taints that keep pods off it, as kubectl prints them without their effect and with it, whether
    #: it is cordoned, and why it is not ready; "": the event is about something else.
    described_node: str = ""
    taints: tuple[str, ...] = ()
    whole_taints: tuple[str, ...] = ()
    unready: str = ""
    is_cordoned: bool = False
    #: Whether it is a row of a table that lists the pod as Pending.
    is_pending: bool = False
    #: Whether it says that the owner of the pod deleted it.
    is_deleted: bool = False
    #: That a container of the pod started, or that its volume was attached: the event's reason; "": it is about something else.
    progress: str = ""
    #: The claim of the pod for which the scheduler's log says that a node has no access to enough storage, `namespace/name`, the requested
    #: bytes, and the StorageClass; "": it is about something else.
    lacking_claim: str = ""
    requested_bytes: int = 0
    storage_class: str = ""
    #: A node selector that a command prints; empty: it is about something else.
    selector: dict[str, str] = {}
    #: The labels of a node that a command prints; empty: it is about something else.
    labels: dict[str, str] = {}


def pod_events_in(text: str) -> list[TextEvent]:
    """The events in a text, in order. A described pod with a node counts as placed at an unknown time, before its events.

    That it is nominated to a node counts as an event, too.
    """
    if items := items_in(text):
        # A log whose lines are JSON begins as an object does.
        return [*(event for item in items if (event := _of_object(item)) is not None), *_of_pools(text), *_of_node_objects(text)]
    text = with_text_lines(plain(text))
    described = DescribedPods(text)
    unordered = (
        *_of_pools(text),
        *_of_described_nodes(text),
        *_of_node_objects(text),
        *_bound_claims(text),
        *_of_tables(text),
        *_printed(text),
        *_lacking_claims(text),
    )
    found: list[tuple[int, TextEvent]] = [(0, event) for event in unordered]
    places = (*_ROW.finditer(text), *_NODE.finditer(text), *_NOMINATED.finditer(text), *_BOUND.finditer(text))
    for place in sorted(places, key=lambda match: match.start()):
        if place.re is _BOUND:
            found.append((place.start(), _of_log(place, text)))
            continue
        pod = described.pod_before(place.start())
        if place.re is _ROW and place["reason"] in CLAIM_FAILURES:
            pod = described.claim_before(place.start(), pod)
        event = _of_row(place, pod) if place.re is _ROW else _of_field(place, pod)
        if event is not None and (event.pod or place.re is _ROW):
            found.append((place.start(), event))
    return [event for _, event in found]


def _of_field(field: re.Match[str], pod: str) -> TextEvent:
    """The node of a described pod, or the one that it is nominated to."""
    return TextEvent(pod, "", field["node"]) if field.re is _NODE else TextEvent(pod, "", nominated_node=field["node"])


def _of_log(bound: re.Match[str], text: str) -> TextEvent:
    """That the scheduler's log says that a pod was bound."""
    at = log_time(text[line_start(text, bound.start(), _LINE) : bound.start()])
    return TextEvent(bound["pod"] or bound["old_pod"], at, bound["node"] or bound["old_node"])


def _of_pools(text: str) -> Iterator[TextEvent]:
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
            yield TextEvent("", "", message=message, pool=pool)


def _bound_claims(text: str) -> Iterator[TextEvent]:
    """The claims that the scheduler's log says are bound."""
    for bound in _BOUND_CLAIM.finditer(text):
        yield TextEvent("", "", bound_claim=bound["claim"], volume=bound["volume"])


def _lacking_claims(text: str) -> Iterator[TextEvent]:
    """The claims for which a node has no access to enough storage."""
    for lacking in _LACKING_CLAIM.finditer(text):
        yield TextEvent(
            lacking["pod"], "", lacking_claim=lacking["claim"], requested_bytes=int(lacking["bytes"]), storage_class=lacking["class"]
        )


def _of_tables(text: str) -> Iterator[TextEvent]:
    """The pods that tables list as Pending, and the nodes that they list as not ready."""
    for table in tables(text):
        for row in table.rows if table.is_of_pods else ():
            if row.get("STATUS") == "Pending":
                yield TextEvent(key_of_row(row), "", is_pending=True)
        for row in table.rows if table.is_of_nodes else ():
            if row.get("STATUS", "").partition(",")[0] == "NotReady":
                yield TextEvent("", "", broken_node=row["NAME"])


def _printed(text: str) -> Iterator[TextEvent]:
    """The node selectors and the labels of nodes that commands print."""
    for selector in printed_selectors(text):
        yield TextEvent("", "", selector=selector)
    for labels in printed_labels(text):
        yield TextEvent("", "", labels=labels)


def _of_described_nodes(text: str) -> Iterator[TextEvent]:
    """What each described node is, and what it offers. A description may lack its beginning or its end."""
    for node in described_nodes(text):
        yield TextEvent(
            "",
            "",
            described_node=node.name,
            taints=node.taints,
            whole_taints=node.whole_taints,
            is_cordoned=node.is_cordoned,
            unready=node.unready,
        )
    described = list(_ALLOCATABLE.finditer(text))
    for each, next_ in itertools.zip_longest(described, described[1:]):
        rows = (row.split() for row in each["amounts"].splitlines())
        total = _ALLOCATED.search(text, each.end(), next_.start() if next_ is not None else len(text))
        requested = {row["resource"]: row["amount"] for row in _REQUESTED.finditer(total["rows"])} if total is not None else {}
        yield TextEvent("", "", offers={row[0].rstrip(":"): row[1] for row in rows}, requested=requested)


def _of_node_objects(text: str) -> Iterator[TextEvent]:
    """The same of each Node object."""
    for node in node_objects(text):
        yield TextEvent(
            "",
            "",
            offers=node.status.allocatable,
            described_node=node.metadata.name,
            taints=tuple(node.taints),
            whole_taints=tuple(node.taints.values()),
            is_cordoned=node.spec.unschedulable,
            unready=node.unready,
        )


def _of_row(row: re.Match[str], described: str) -> TextEvent | None:
    rest = row["rest"]
    if (about := _OBJECT.match(rest)) is not None:
        # A table of events: `[NAMESPACE] LAST-SEEN TYPE REASON OBJECT MESSAGE`.
        ages = list(_AGE.finditer(row["before"]))
        namespace = row["before"][: ages[0].start()].strip() if ages else row["before"].strip()
        at = ages[0]["age"] if ages else ""
        return _event(about["kind"], f"{namespace or 'default'}/{about['name']}", at, row["reason"], rest[about.end() :], row["type"])
    age = _AGE.match(rest)
    rest = rest[age.end() :].lstrip() if age is not None else rest
    sender = _FROM.match(rest)
    message = rest[sender.end() :] if sender is not None else rest
    return _event("Pod", described, age["age"] if age is not None else "", row["reason"], message, row["type"])


def _of_object(item: msgspec.Raw | dict[str, object]) -> TextEvent | None:
    from schedviz.ingest.events import event_of, time_of

    if (event := event_of(item)) is None:
        pod = pod_of(item)
        return TextEvent(pod.key, "", pod.spec.node_name) if pod is not None and pod.spec.node_name else None
    about = event.about
    message = event.message or event.note
    found = _event(about.kind, f"{about.namespace or 'default'}/{about.name}", "", event.reason, message, event.type)
    return None if found is None else msgspec.structs.replace(found, at=time_of(event))


def _event(kind: str, name: str, age: str, reason: str, message: str, severity: str) -> TextEvent | None:
    at = f"{age} ago" if age else ""
    message = " ".join(message.split())[:_MAX_LENGTH]
    if reason == FAILED_BINDING and (message == _VOLUME_CONTROLLER or NO_VOLUME_MESSAGE.startswith(message)):
        # The line was broken within the message.
        message = NO_VOLUME_MESSAGE
    if reason in CLAIM_FAILURES and message:
        # Only claims have it, also in `kubectl describe`, which does not name the kind.
        return TextEvent("", at, reason=reason, message=message, claim=name)
    if kind.lower() == "node" and reason == NODE_NOT_READY:
        return TextEvent("", at, broken_node=name.rpartition("/")[2])
    if reason == "SuccessfulDelete" and (deleted := _DELETED.match(message)) is not None and "/" in name:
        return TextEvent(f"{name.partition('/')[0]}/{deleted['name']}", at, is_deleted=True)
    if kind.lower() in ("pod", "") and reason == PREEMPTED:
        return TextEvent(name, at, reason=reason, message=message)
    if kind.lower() not in ("pod", ""):
        return None
    if reason == "Scheduled" and (assigned := _ASSIGNED.search(message)) is not None:
        return TextEvent(assigned["pod"] if "/" in assigned["pod"] else name, at, assigned["node"])
    if reason in _PROGRESS and severity == "Normal":
        return TextEvent(name, at, progress=reason)
    if severity != "Warning" or reason in _EXPLAINED or not message:
        return None
    return TextEvent(name, at, reason=reason, message=message)


def warnings_of(events: list[TextEvent]) -> Iterator[TextEvent]:
    """The warnings, each once for a pod and a reason, with its newest message."""
    newest = {(event.pod, event.reason): event for event in events if event.reason}
    yield from newest.values()
