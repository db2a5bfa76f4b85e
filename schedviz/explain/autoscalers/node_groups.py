"""`refusal_of_groups` and `clauses_of_groups`: why no node group of the cluster autoscaler gives a pod a node, by its event or its log."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from schedviz.explain.autoscalers.refusal import Refusal
from schedviz.explain.explanation import Clause
from schedviz.explain.meaning import Meaning
from schedviz.explain.messages.explained_clause import explained_clause
from schedviz.explain.messages.main_reason import is_of_system_pool
from schedviz.explain.messages.reasons import meaning_of
from schedviz.explain.reason_tables.autoscalers import CLUSTER_AUTOSCALER
from schedviz.trace.phrase import Phrase, counted, joined, phrase

#: What an event says: `pod didn't trigger scale-up: 1 max node group size reached, …`.
_EVENT: Final = re.compile(r"(?P<whole>pod didn't trigger scale-up(?: \([^()]*+\))?)(?:: ?(?P<groups>.*))?", re.IGNORECASE)
#: What its log says, as `ingest/autoscaler_logs.py` joins the lines of one pod.
_LOGGED: Final = re.compile(
    r"Pod \S+ can't be scheduled on (?P<group>[^\s,]++), predicate (?:checking error|failed): (?P<why>.+)"
    r"|Skipping node group (?P<full>\S+) - max size reached"
    r"|Node group (?P<broken>\S+) is not ready for scale-?up(?P<state> - .*)?"
    r"|Node group (?P<name>\S+): (?P<status>.+)"
    r"|Skipping node group (?P<limited>\S+?);? maximal limit exceeded for (?P<resources>.+)"
)
#: What its status ConfigMap says, which is about no pod.
_STATUS: Final = re.compile(r"Node group \S+: ")
_BETWEEN_LOGGED: Final = re.compile(r" \| ")
#: Where a line of the log lists the scheduler's reasons.
_REASONS: Final = re.compile(r"predicateReasons=\[(?P<new>[^\]]*+)\]|reasons?: (?P<old>[^;]++)")
_TAINTS_ON_NODE: Final = re.compile(r", taints on node: .*$")
_TAINT_ON_NODE: Final = re.compile(r'Key:"(?P<key>[^"]++)", Value:"(?P<value>[^"]*+)", Effect:"(?P<effect>No[A-Za-z]*+)')
#: A comma between reasons.
_BETWEEN: Final = re.compile(r", (?=\d{1,9} )", re.ASCII)
_BETWEEN_REASONS: Final = re.compile(r", (?=Insufficient |node\(s\) |Too many )")
_CLAUSE: Final = re.compile(r"(?P<count>\d{1,9}) (?P<reason>.+)", re.ASCII)
_INSUFFICIENT: Final = "Insufficient "
#: Reasons in one sentence, and node groups that it names.
_MAX_LISTED: Final = 4
_MAX_NAMED: Final = 3
#: What its log says before it gives up.
NO_OPTIONS: Final = "No expansion options"
#: The zone in the address of a node group on GCE.
_ZONE: Final = re.compile(r"/zones/([a-z0-9-]+)/")
_RESOURCES: Final = {"cpu": "CPU", "ephemeral-storage": "ephemeral storage"}


class _Kind(NamedTuple):
    """What a reason of the scheduler means for nodes that a group would get, and what to do."""

    words: tuple[str, ...]
    #: About one group, and about several.
    said: tuple[str, str]
    advice: Phrase
    #: Reasons of later filters come first: the nodes pass the earlier ones.
    rank: int


_TOO_SMALL: Final = phrase("Lower the pod's requests, or add a node group with larger machines")
_NO_DEVICE: Final = phrase(
    "Add a node group whose machines have `{resource}`, or free `{resource}` by stopping a pod that uses it. If the pod requests more than "
    "one, lower its request. A node group without nodes must declare `{resource}` for the autoscaler, for example with ASG tags on AWS"
)
#: What to do about a volume that no node group can access.
OF_VOLUME: Final = phrase(
    "Add a node group in the volume's zone, or free up capacity on a node that can access the volume. A bound volume cannot move to "
    "another zone. To see its zone, run `kubectl get pv NAME -o yaml` and look under nodeAffinity. A node group without nodes must declare "
    "the zone label that the volume requires, for example with ASG tags on AWS"
)
#: The same where other node groups lack what the pod requests: the new one needs both.
_OF_VOLUME_AND_DEVICE: Final = phrase(
    "Add a node group in the volume's zone whose machines have `{resource}`, or free `{resource}` in that zone by stopping a pod that uses "
    "it. A bound volume cannot move to another zone. To see its zone, run `kubectl get pv NAME -o yaml` and look under nodeAffinity. A "
    "node group without nodes must declare `{resource}` and its zone for the autoscaler, for example with ASG tags on AWS"
)
_OF_VOLUME_AND_SIZE: Final = phrase(
    "Lower the pod's requests, or add a node group with larger machines in the volume's zone. A bound volume cannot move to another zone. "
    "To see its zone, run `kubectl get pv NAME -o yaml` and look under nodeAffinity"
)
_BY_VOLUME: Final = (
    "{groups} has machines that cannot access the pod's volume",
    "{groups} have machines that cannot access the pod's volume",
)
_KINDS: Final[tuple[_Kind, ...]] = (
    _Kind(
        ("volume node affinity conflict", "PersistentVolume's node affinity"),
        _BY_VOLUME,
        OF_VOLUME,
        1,
    ),
    _Kind(
        ("exceed max volume count",),
        ("{groups} has machines that cannot attach enough volumes", "{groups} have machines that cannot attach enough volumes"),
        phrase("Use fewer volumes in the pod, or add a node group whose machines attach more volumes"),
        1,
    ),
    _Kind(
        ("topology spread constraint",),
        ("{groups} would violate the pod's topology spread constraints", "{groups} would violate the pod's topology spread constraints"),
        phrase("Add a node group in the zone that has the fewest matching pods, or set `whenUnsatisfiable: ScheduleAnyway`"),
        1,
    ),
    _Kind(
        ("pod anti-affinity", "anti-affinity rules"),
        ("{groups} would violate a required anti-affinity", "{groups} would violate a required anti-affinity"),
        phrase("Make the anti-affinity preferred instead of required, or add a node group in another zone"),
        1,
    ),
    _Kind(
        ("pod affinity rules", "pod affinity/anti-affinity"),
        ("{groups} does not satisfy the pod's affinity to other pods", "{groups} do not satisfy the pod's affinity to other pods"),
        phrase("Check that the pods required by the affinity are running, or make the affinity preferred instead of required"),
        1,
    ),
    _Kind(
        ("Too many pods",),
        ("{groups} has machines whose pod limit is too low", "{groups} have machines whose pod limit is too low"),
        phrase("Raise the pod limit of the node group, or use fewer DaemonSets"),
        1,
    ),
    _Kind(
        ("free ports", "host port"),
        (
            "{groups} has nodes on which the pod's host port would be in use",
            "{groups} have nodes on which the pod's host port would be in use",
        ),
        phrase("Use another host port, or keep the DaemonSet that uses it off the node group"),
        1,
    ),
    _Kind(
        ("node affinity", "node selector"),
        ("{groups} does not match the pod's node selector or affinity", "{groups} do not match the pod's node selector or affinity"),
        phrase(
            "Compare the pod's node selector and node affinity with the labels of the node groups. A node group without nodes "
            "must declare its "
            "labels for the autoscaler, for example with ASG tags on AWS"
        ),
        2,
    ),
)
#: A taint that the reason names, and one that it does not.
_TAINT: Final = re.compile(r"(?:untolerated )?taint \{(?P<taint>[^}]*+)\}")
_ANY_TAINT: Final = re.compile(r"untolerated taint|taints that the pod didn't tolerate")
#: Sentences about one node group, and about several.
_SMALL: Final = (
    "{groups} has machines with too little {resources} for the pod",
    "{groups} have machines with too little {resources} for the pod",
)
_WITHOUT_DEVICES: Final = ("{groups} does not offer enough `{resource}`", "{groups} do not offer enough `{resource}`")
_UNNAMED_TAINTS: Final = ("{groups} has taints that the pod does not tolerate", "{groups} have taints that the pod does not tolerate")
_TAINTED: Final = ("{groups} has the untolerated taint `{taint}`", "{groups} have the untolerated taint `{taint}`")
_UNKNOWN: Final = ("{groups} does not fit the pod", "{groups} do not fit the pod")
_OTHER: Final = ("{groups} does not fit the pod ({reason})", "{groups} do not fit the pod ({reason})")
#: All of them, for their translations.
SENTENCES: Final = (
    *_SMALL,
    *_WITHOUT_DEVICES,
    *_UNNAMED_TAINTS,
    *_TAINTED,
    *_UNKNOWN,
    *_OTHER,
    *(text for kind in _KINDS for text in kind.said),
)
_SILENT: Final = phrase("the cluster autoscaler did not add a node, and its event gives no reason")
#: Where the reason is that an event leaves out.
READ_THE_LOG: Final = phrase(
    "To find the reason, run `kubectl -n kube-system logs deploy/cluster-autoscaler`. On GKE, read the autoscaler visibility events instead"
)


#: The node group that its log resizes.
_RESIZED: Final = re.compile(r"\bBest option to resize: (?P<group>\S+)")


class _Groups(NamedTuple):
    """The node groups of a reason: their names or their number, and whether they are one."""

    said: Phrase
    is_one: bool

    def that(self, one: str, several: str, **values: str | Phrase) -> Phrase:
        """A sentence about them, of which they are the subject."""
        return Phrase(one if self.is_one else several, {"groups": self.said, **values})


class GroupReason(NamedTuple):
    """Why some node groups give the pod no node."""

    #: As the autoscaler wrote it.
    text: str
    said: Phrase
    advice: Phrase | None
    rank: int


def clauses_of_groups(message: str) -> tuple[Clause, ...]:
    """The reasons of a message of the cluster autoscaler, ranked; only the first says what to do. Empty for another text."""
    event = _EVENT.fullmatch(message.strip(" ."))
    reasons = _reasons(message)
    if event is None and not reasons:
        return ()
    clauses = [
        Clause(0, reason.text, CLUSTER_AUTOSCALER, "", ()).with_phrases(headline=reason.said, advice=None if number else reason.advice)
        for number, reason in enumerate(reasons)
    ]
    if event is None:
        return tuple(clauses)
    if not clauses:
        return (_clause_of(message, _SILENT, READ_THE_LOG),)
    return (_clause_of(event["whole"], phrase("the cluster autoscaler did not add a node for the pod"), None), *clauses)


def refusal_of_groups(message: str) -> Refusal | None:
    """What a message of the cluster autoscaler means; None for another text, and for an event without a reason."""
    if message == NO_OPTIONS and (without := meaning_of(message)) is not None:
        sentence = phrase(
            "The cluster autoscaler found no node group that it could scale up for the pod; this part of its log gives no reason."
        )
        return Refusal(sentence, Phrase(without.advice))
    reasons = _reasons(message)
    if not reasons:
        return None
    said = _in_one_sentence([reason.said for reason in reasons[:_MAX_LISTED]])
    others = reasons[_MAX_LISTED:]
    note = None
    if others:
        note = phrase(
            "In addition: {reasons}.", reasons=joined([reason.said for reason in others], "{first}; {next}", maximum=_MAX_LISTED * 2)
        )
    if (resized := _RESIZED.search(message)) is not None:
        group = _short(resized["group"])
        return Refusal(
            phrase(
                "The cluster autoscaler adds nodes to `{group}`, for this pod or for others. Elsewhere: {reasons}.",
                group=group,
                reasons=said,
            ),
            phrase("wait for the new nodes; if the pod stays pending, compare it with the labels and taints of `{group}`", group=group),
            note,
        )
    if _STATUS.match(message):
        return Refusal(phrase("The cluster autoscaler cannot scale up every node group: {reasons}.", reasons=said), reasons[0].advice, note)
    return Refusal(phrase("The cluster autoscaler did not add a node: {reasons}.", reasons=said), reasons[0].advice, note)


def _in_one_sentence(reasons: Sequence[Phrase]) -> Phrase:
    """The reasons as a list: "9 node groups do not match …, 3 have …, and 3 are in backoff …"."""
    first, *others = reasons
    if not others:
        return first
    if _number(first) is not None:
        others = [_counting(reason) for reason in others]
    # What has a subject of its own follows a comma.
    is_short = len(others) == 1 and others[0] is not reasons[1]
    between = "{first} and {next}" if is_short else "{first}, and {next}"
    return Phrase(between, {"first": joined([first, *others[:-1]]), "next": others[-1]})


def _number(reason: Phrase) -> Phrase | None:
    """The subject of a reason that begins with a number of node groups; None: it begins otherwise."""
    subject = reason.values.get(_SUBJECTS.get(reason.template.partition("}")[0], ""))
    return subject if isinstance(subject, Phrase) and subject.template in _COUNTED else None


def _counting(reason: Phrase) -> Phrase:
    """The reason with the mere number of node groups, to follow another one with a number."""
    subject = _number(reason)
    if subject is None:
        return reason
    name = _SUBJECTS[reason.template.partition("}")[0]]
    return Phrase(reason.template, {**reason.values, name: Phrase("{count}", subject.values)})


def _clause_of(text: str, said: Phrase, advice: Phrase | None) -> Clause:
    return Clause(0, text, CLUSTER_AUTOSCALER, "", ()).with_phrases(headline=said, advice=advice)


def _reasons(message: str) -> list[GroupReason]:
    """The reasons, those that the autoscaler has before it looks at the pod first; then those of nodes that come closest to fitting it."""
    event = _EVENT.fullmatch(message.strip(" ."))
    found = _reasons_of_event((event["groups"] or "").strip()) if event is not None else _reasons_of_log(_BETWEEN_LOGGED.split(message))
    ranked = sorted(found, key=lambda reason: reason.rank)
    return [ranked[0]._replace(advice=_advice_with_volume(ranked)), *ranked[1:]] if ranked else []


def _advice_with_volume(reasons: Sequence[GroupReason]) -> Phrase | None:
    """What to do about the first reason, where a node group needs both the volume's zone and what the pod requests."""
    first = reasons[0]
    templates = {reason.said.template for reason in reasons}
    lacking = next((reason for reason in reasons if reason.said.template in {*_WITHOUT_DEVICES, *_SMALL}), None)
    if lacking is None or templates.isdisjoint(_BY_VOLUME) or first.said.template not in {lacking.said.template, *_BY_VOLUME}:
        return first.advice
    device = lacking.said.values.get("resource")
    return _OF_VOLUME_AND_SIZE if device is None else Phrase(_OF_VOLUME_AND_DEVICE.template, {"resource": device})


def _reasons_of_event(groups: str) -> list[GroupReason]:
    if not groups:
        return []
    counts: list[tuple[int, str]] = []
    for part in _BETWEEN.split(groups):
        clause = _CLAUSE.fullmatch(part.strip())
        counts.append((int(clause["count"]), clause["reason"].strip()) if clause is not None else (0, part.strip()))
    found: list[GroupReason] = []
    for count in dict.fromkeys(count for count, _ in counts):
        short = [reason for number, reason in counts if number == count and _is_shortage(reason)]
        if short:
            # One node group has a reason for each resource.
            text = ", ".join(f"{count} {reason}" for reason in short)
            found.append(_shortage(text, short, _counted_groups(count)))
    found += [
        _other(f"{count} {reason}" if count else reason, reason, count, _counted_groups(count))
        for count, reason in counts
        if not _is_shortage(reason)
    ]
    return found


def _counted_groups(count: int) -> _Groups:
    return _Groups(counted(count, "{count} node group", "{count} node groups"), count == 1)


_COUNTED: Final = frozenset({"{count} node group", "{count} node groups"})
#: How reasons begin whose subject are the node groups, and what it is called there.
_SUBJECTS: Final = {"{groups": "groups", "{nodes": "nodes"}


def _reasons_of_log(lines: Iterable[str]) -> list[GroupReason]:
    found: list[GroupReason] = []
    by_reasons: dict[str, tuple[list[str], list[str]]] = {}
    by_state: dict[str, tuple[list[str], list[str]]] = {}
    for line in lines:
        match = _LOGGED.fullmatch(line.strip())
        if match is None:
            continue
        if match["full"] is not None or match["broken"] is not None:
            groups, texts = by_state.setdefault(_state(match), ([], []))
            groups.append(match["full"] or match["broken"])
            texts.append(line)
            continue
        if match["group"] is None:
            found.append(_reason_of_line(line, match))
            continue
        listed = _REASONS.search(match["why"])
        said = (listed["new"] or listed["old"] or "") if listed is not None else match["why"].partition(";")[0]
        taint = _TAINT_ON_NODE.search(said)
        reason = (
            f"node(s) had untolerated taint {{{taint['key']}: {taint['value']}{_effect_of(taint)}}}"
            if taint is not None
            else _TAINTS_ON_NODE.sub("", said)
        )
        groups, texts = by_reasons.setdefault(reason.strip(" ."), ([], []))
        groups.append(_short(match["group"]))
        texts.append(line)
    addresses = [group for groups, _ in by_state.values() for group in groups]
    found += [_reason_of_state(state, " | ".join(texts), _distinct(groups, addresses)) for state, (groups, texts) in by_state.items()]
    for reasons, (groups, texts) in by_reasons.items():
        named = _named_groups(groups)
        parts = _BETWEEN_REASONS.split(reasons)
        short = [part for part in parts if _is_shortage(part)]
        text = " | ".join(texts)
        if short:
            found.append(_shortage(text, short, named))
        found += [_other(text, part, len(groups), named) for part in parts if not _is_shortage(part)]
    return found


def _state(match: re.Match[str]) -> str:
    """Why a node group was not compared with the pod, in the words of events."""
    if match["full"] is not None:
        return "max node group size reached"
    return "in backoff after failed scale-up" if "backoff" in (match["state"] or "") else "not ready for scale-up"


def _reason_of_state(state: str, text: str, groups: Sequence[str]) -> GroupReason:
    """What the log says about node groups that were not compared with the pod."""
    meaning = meaning_of(state)
    assert meaning is not None
    named = _named_groups(groups)
    said = meaning.headline(1 if named.is_one else 2, named.said)
    return GroupReason(text, said, meaning.advice_phrase() or Phrase(meaning.advice), 0)


def _distinct(groups: Sequence[str], addresses: Sequence[str]) -> list[str]:
    """The short names of node groups; with their zones if another group of the same name is among the `addresses`."""
    several = Counter(_short(address) for address in {*addresses})
    return [
        f"{zone[1]}/{_short(group)}" if several[_short(group)] > 1 and (zone := _ZONE.search(group)) is not None else _short(group)
        for group in groups
    ]


def _reason_of_line(line: str, match: re.Match[str]) -> GroupReason:
    """A line about a node group that was not compared with the pod: a limit of the cluster, or what the status says."""
    if match["name"] is not None:
        return _reason_of_status(line, _named_groups([_short(match["name"])]).said, match["status"])
    meaning = meaning_of("max cluster cpu limit reached")
    assert meaning is not None
    said = meaning.headline(1, _named_groups([_short(match["limited"])]).said)
    return GroupReason(line, said, meaning.advice_phrase() or Phrase(meaning.advice), 0)


def _reason_of_status(line: str, group: Phrase, status: str) -> GroupReason:
    """What the status ConfigMap says about a node group; with the cloud's error from 1.30 on."""
    error = status.partition("error: ")[2]
    if error:
        said = phrase("the last scale-up of {groups} failed: {error}", groups=group, error=error)
        return GroupReason(line, said, phrase("Correct the cause of this error in the cloud. The autoscaler retries by itself"), 0)
    if (waits := _UNREGISTERED.fullmatch(status)) is not None:
        machines = counted(int(waits["count"]), "{count} machine", "{count} machines")
        said = phrase("{machines} in {groups} have not registered as nodes for a long time", machines=machines, groups=group)
        if waits["count"] == "1":
            said = phrase("{machines} in {groups} has not registered as a node for a long time", machines=machines, groups=group)
        return GroupReason(line, said, _REGISTRATION, 0)
    words = "not ready for scale-up" if "Unhealthy" in status else "in backoff after failed scale-up"
    meaning = meaning_of("max node group size reached" if "maximum" in status else words)
    assert meaning is not None
    advice = meaning.advice_phrase() or Phrase(meaning.advice)
    if words.startswith("in backoff") and "maximum" not in status:
        advice = phrase("Find out why the scale-up failed: `kubectl -n kube-system logs deploy/cluster-autoscaler | grep -i fail`")
    return GroupReason(line, meaning.headline(1, group), advice, 0)


#: As `ingest/pasted/autoscaler_status.py` writes it.
_UNREGISTERED: Final = re.compile(r"(?P<count>\d{1,9}) long unregistered \(.*")
_REGISTRATION: Final = phrase(
    "Find out why the machines do not join: read the kubelet's log on one of them, and check its role, its network, and its user data. The "
    "autoscaler deletes machines that do not register"
)


def _named_groups(groups: Sequence[str]) -> _Groups:
    names = list(dict.fromkeys(groups))
    if len(names) == 1:
        return _Groups(phrase("the node group `{name}`", name=names[0]), is_one=True)
    if len(names) > _MAX_NAMED:
        return _counted_groups(len(names))
    return _Groups(phrase("the node groups {names}", names=" and ".join(names)), is_one=False)


def _short(group: str) -> str:
    """The name without the address of its cloud."""
    return group.rpartition("/")[2].rstrip(".,")


def _is_shortage(reason: str) -> bool:
    return reason.startswith(_INSUFFICIENT)


def _shortage(text: str, reasons: Sequence[str], groups: _Groups) -> GroupReason:
    resources = list(dict.fromkeys(reason.removeprefix(_INSUFFICIENT) for reason in reasons))
    device = next((resource for resource in resources if "/" in resource), "")
    if device:
        said = groups.that(*_WITHOUT_DEVICES, resource=device)
        return GroupReason(text, said, Phrase(_NO_DEVICE.template, {"resource": device}), 1)
    names = " and ".join(_RESOURCES.get(resource, resource) for resource in resources)
    return GroupReason(text, groups.that(*_SMALL, resources=names), _TOO_SMALL, 1)


def _other(text: str, reason: str, count: int, groups: _Groups) -> GroupReason:
    meaning = meaning_of(reason)
    if meaning is not None and meaning.plugin == CLUSTER_AUTOSCALER:
        said = meaning.headline(count or 1, groups.said) if meaning.of_nodes[0] else meaning.phrase
        return GroupReason(text, said, meaning.advice_phrase() or (Phrase(meaning.advice) if meaning.advice else None), 0)
    for kind in _KINDS:
        if any(words in reason for words in kind.words):
            return GroupReason(text, groups.that(*kind.said), kind.advice, kind.rank)
    taint = _TAINT.search(reason)
    if taint is not None and taint["taint"]:
        return _tainted(text, reason, taint["taint"], groups, meaning)
    if _ANY_TAINT.search(reason):
        return GroupReason(text, groups.that(*_UNNAMED_TAINTS), phrase("Add the tolerations of the node group that the pod belongs in"), 2)
    if meaning is None:
        return GroupReason(text, groups.that(*_UNKNOWN), READ_THE_LOG, 3)
    return GroupReason(text, groups.that(*_OTHER, reason=reason), READ_THE_LOG, 3)


def _effect_of(taint: re.Match[str]) -> str:
    """The effect of a taint with a value, as kubectl prints it after the value."""
    return f":{taint['effect']}" if taint["value"] else ""


def _tainted(text: str, reason: str, taint: str, groups: _Groups, meaning: Meaning | None) -> GroupReason:
    printed = "=".join(filter(None, (part.strip() for part in taint.partition(":")[::2])))
    said = groups.that(*_TAINTED, taint=printed)
    if is_of_system_pool(explained_clause(0, reason)):
        # Those nodes are for the cluster's own pods, whatever this one tolerates.
        return GroupReason(text, said, phrase("Add a node group that is not reserved for system pods"), 4)
    if meaning is not None and "interrupted" in meaning.advice:
        return GroupReason(text, said, meaning.advice_phrase() or Phrase(meaning.advice), 2)
    advice = phrase(
        "If the pod belongs on these nodes, add a toleration for `{taint}`; otherwise, add a node group without this taint", taint=printed
    )
    return GroupReason(text, said, advice, 2)
