"""Why node groups give a pod no node: `reasons_of_event` and `reasons_of_log` parse what the cluster autoscaler writes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from schedviz.explain.meaning import Meaning
from schedviz.explain.messages.explained_clause import explained_clause
from schedviz.explain.messages.main_reason import is_of_system_pool
from schedviz.explain.messages.reasons import meaning_of
from schedviz.explain.reason_tables.autoscalers import CLUSTER_AUTOSCALER
from schedviz.explain.reason_tables.node_groups import (
    ADVICE_ABOUT_DEVICE,
    ADVICE_ABOUT_REGISTRATION,
    ADVICE_ABOUT_SIZE,
    GROUP_KINDS,
    OTHER,
    READ_THE_LOG,
    TAINTED,
    TOO_SMALL,
    UNKNOWN,
    UNNAMED_TAINTS,
    WITHOUT_DEVICE,
    Lack,
)
from schedviz.trace.phrase import Phrase, counted, phrase

#: A line of its log.
_LOGGED: Final = re.compile(
    r"Pod \S+ can't be scheduled on (?P<group>[^\s,]++), predicate (?:checking error|failed): (?P<why>.+)"
    r"|Skipping node group (?P<full>\S+) - max size reached"
    r"|Node group (?P<broken>\S+) is not ready for scale-?up(?P<state> - .*)?"
    r"|Node group (?P<name>\S+): (?P<status>.+)"
    r"|Skipping node group (?P<limited>\S+?);? maximal limit exceeded for (?P<resources>.+)"
)
#: Where a line of the log lists the scheduler's reasons.
_REASONS: Final = re.compile(r"predicateReasons=\[(?P<new>[^\]]*+)\]|reasons?: (?P<old>[^;]++)")
_TAINTS_ON_NODE: Final = re.compile(r", taints on node: .*$")
_TAINT_ON_NODE: Final = re.compile(r'Key:"(?P<key>[^"]++)", Value:"(?P<value>[^"]*+)", Effect:"(?P<effect>No[A-Za-z]*+)')
#: A comma between reasons.
_BETWEEN: Final = re.compile(r", (?=\d{1,9} )", re.ASCII)
_BETWEEN_REASONS: Final = re.compile(r", (?=Insufficient |node\(s\) |Too many )")
_CLAUSE: Final = re.compile(r"(?P<count>\d{1,9}) (?P<reason>.+)", re.ASCII)
_INSUFFICIENT: Final = "Insufficient "
#: Node groups that a sentence names; more are counted.
_MAX_NAMED: Final = 3
#: The zone in the address of a node group on GCE.
_ZONE: Final = re.compile(r"/zones/([a-z0-9-]+)/")
_RESOURCES: Final = {"cpu": "CPU", "ephemeral-storage": "ephemeral storage"}
#: A taint that the reason names, and one that it does not.
_TAINT: Final = re.compile(r"(?:untolerated )?taint \{(?P<taint>[^}]*+)\}")
_ANY_TAINT: Final = re.compile(r"untolerated taint|taints that the pod didn't tolerate")
#: As `ingest/pasted/autoscaler_status.py` writes it.
_UNREGISTERED: Final = re.compile(r"(?P<count>\d{1,9}) long unregistered \(.*")


class NodeGroups(NamedTuple):
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
    lacks: Lack = ""


def reasons_of_event(groups: str) -> list[GroupReason]:
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


def _counted_groups(count: int) -> NodeGroups:
    return NodeGroups(counted(count, "{count} node group", "{count} node groups"), count == 1)


def reasons_of_log(lines: Iterable[str]) -> list[GroupReason]:
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
        groups.append(short_name(match["group"]))
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
    several = Counter(short_name(address) for address in {*addresses})
    return [
        f"{zone[1]}/{short_name(group)}"
        if several[short_name(group)] > 1 and (zone := _ZONE.search(group)) is not None
        else short_name(group)
        for group in groups
    ]


def _reason_of_line(line: str, match: re.Match[str]) -> GroupReason:
    """A line about a node group that was not compared with the pod: a limit of the cluster, or what the status says."""
    if match["name"] is not None:
        return _reason_of_status(line, _named_groups([short_name(match["name"])]).said, match["status"])
    meaning = meaning_of("max cluster cpu limit reached")
    assert meaning is not None
    said = meaning.headline(1, _named_groups([short_name(match["limited"])]).said)
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
        return GroupReason(line, said, ADVICE_ABOUT_REGISTRATION, 0)
    words = "not ready for scale-up" if "Unhealthy" in status else "in backoff after failed scale-up"
    meaning = meaning_of("max node group size reached" if "maximum" in status else words)
    assert meaning is not None
    advice = meaning.advice_phrase() or Phrase(meaning.advice)
    if words.startswith("in backoff") and "maximum" not in status:
        advice = phrase("Find out why the scale-up failed: `kubectl -n kube-system logs deploy/cluster-autoscaler | grep -i fail`")
    return GroupReason(line, meaning.headline(1, group), advice, 0)


def _named_groups(groups: Sequence[str]) -> NodeGroups:
    names = list(dict.fromkeys(groups))
    if len(names) == 1:
        return NodeGroups(phrase("the node group `{name}`", name=names[0]), is_one=True)
    if len(names) > _MAX_NAMED:
        return _counted_groups(len(names))
    return NodeGroups(phrase("the node groups {names}", names=" and ".join(names)), is_one=False)


def short_name(group: str) -> str:
    """The name without the address of its cloud."""
    return group.rpartition("/")[2].rstrip(".,")


def _is_shortage(reason: str) -> bool:
    return reason.startswith(_INSUFFICIENT)


def _shortage(text: str, reasons: Sequence[str], groups: NodeGroups) -> GroupReason:
    resources = list(dict.fromkeys(reason.removeprefix(_INSUFFICIENT) for reason in reasons))
    device = next((resource for resource in resources if "/" in resource), "")
    if device:
        said = groups.that(*WITHOUT_DEVICE, resource=device)
        return GroupReason(text, said, Phrase(ADVICE_ABOUT_DEVICE.template, {"resource": device}), 1, "device")
    names = " and ".join(_RESOURCES.get(resource, resource) for resource in resources)
    return GroupReason(text, groups.that(*TOO_SMALL, resources=names), ADVICE_ABOUT_SIZE, 1, "size")


def _other(text: str, reason: str, count: int, groups: NodeGroups) -> GroupReason:
    meaning = meaning_of(reason)
    if meaning is not None and meaning.plugin == CLUSTER_AUTOSCALER:
        said = meaning.headline(count or 1, groups.said) if meaning.of_nodes[0] else meaning.phrase
        return GroupReason(text, said, meaning.advice_phrase() or (Phrase(meaning.advice) if meaning.advice else None), 0)
    for kind in GROUP_KINDS:
        if any(words in reason for words in kind.words):
            return GroupReason(text, groups.that(*kind.said), kind.advice, kind.rank, kind.lacks)
    taint = _TAINT.search(reason)
    if taint is not None and taint["taint"]:
        return _tainted(text, reason, taint["taint"], groups, meaning)
    if _ANY_TAINT.search(reason):
        return GroupReason(text, groups.that(*UNNAMED_TAINTS), phrase("Add the tolerations of the node group that the pod belongs in"), 2)
    if meaning is None:
        return GroupReason(text, groups.that(*UNKNOWN), READ_THE_LOG, 3)
    return GroupReason(text, groups.that(*OTHER, reason=reason), READ_THE_LOG, 3)


def _effect_of(taint: re.Match[str]) -> str:
    """The effect of a taint with a value, as kubectl prints it after the value."""
    return f":{taint['effect']}" if taint["value"] else ""


def _tainted(text: str, reason: str, taint: str, groups: NodeGroups, meaning: Meaning | None) -> GroupReason:
    printed = "=".join(filter(None, (part.strip() for part in taint.partition(":")[::2])))
    said = groups.that(*TAINTED, taint=printed)
    if is_of_system_pool(explained_clause(0, reason)):
        # Those nodes are for the cluster's own pods, whatever this one tolerates.
        return GroupReason(text, said, phrase("Add a node group that is not reserved for system pods"), 4)
    if meaning is not None and meaning.kind == "interruptible":
        return GroupReason(text, said, meaning.advice_phrase() or Phrase(meaning.advice), 2)
    advice = phrase(
        "If the pod belongs on these nodes, add a toleration for `{taint}`; otherwise, add a node group without this taint", taint=printed
    )
    return GroupReason(text, said, advice, 2)
