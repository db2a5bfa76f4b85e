"""Finds the scheduler's messages in text that somebody copied: kubectl's tables and descriptions, logs, chats, issues, JSON and YAML.

Unlike `kubectl_text.py`, which reads whole files, it accepts fragments: prompts and colours of a terminal, frames of a terminal program,
quotes, comments, diffs, escaped strings, and wrapped lines.
"""

from __future__ import annotations

import html
import itertools
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from schedviz.ingest.errors import IngestError
from schedviz.ingest.events import FAILED_CREATE, FAILED_SCHEDULING, OTHER_REASONS, message_in_event
from schedviz.ingest.kubectl.tables_and_descriptions import without_terminal, without_warnings
from schedviz.ingest.limits import Limits
from schedviz.ingest.logs.json_log_lines import with_text_lines
from schedviz.ingest.logs.lost_leases import lost_lease
from schedviz.ingest.manifests import yaml_lines
from schedviz.ingest.manifests.yaml_dump import parse_lines
from schedviz.ingest.pasted.argo_logs import ArgoLog
from schedviz.ingest.pasted.autoscaler_logs import (
    joined_pods,
    karpenter_errors,
    of_cluster_autoscaler,
    of_karpenter,
    with_logged_pod,
    with_namespace,
    without_values,
)
from schedviz.ingest.pasted.autoscaler_status import of_status
from schedviz.ingest.pasted.karpenter_states import karpenter_states
from schedviz.ingest.pasted.kubelet_messages import kubelet_messages
from schedviz.ingest.pasted.message_ends import whole_message
from schedviz.ingest.pasted.pod_objects import (
    OTHER_SCHEDULER,
    QUOTA_RESERVED,
    UNTRIED,
    message_of_placed,
    message_of_pod,
    message_of_workload,
    pod_of,
)
from schedviz.ingest.pasted.pod_states import pod_states
from schedviz.ingest.pasted.stopped_schedulers import stopped_schedulers
from schedviz.ingest.pasted.untried_pods import untried_pods
from schedviz.ingest.scheduler_messages import PodMessage
from schedviz.kube.pod_status import GATED, GENERATED_SUFFIX, STATUS
from schedviz.kube.timestamps import parse_timestamp

#: The longest text that the REST API explains, in characters. Longer ones are refused, and never cut.
MAX_TEXT_LENGTH: Final = 2 << 20
#: The most messages that are returned.
MAX_MESSAGES: Final = 500

#: Escape sequences of terminals: colours, cursor movements, titles. Possessive, because the text may be hostile.
_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]*+(?:\x07|\x1b\\)?|[@-Z\\-_])")
#: Marks before quoted lines in mail and Markdown.
_QUOTE: Final = re.compile(r"^[ \t]*+(?:>[ \t]?)++", re.MULTILINE)
#: Typographic letters of editors and chats, and frames of terminal programs.
_LETTERS: Final = str.maketrans(
    {"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "\u00a0": " ", "\u200b": None, "\ufeff": None} | dict.fromkeys("│┃║", " ")
)
#: The left side of a frame with the space after it: what follows begins its line, as in the output of kubectl.
_FRAME: Final = re.compile(r"^[ \t]*+[│┃║] ?", re.MULTILINE)
#: Lines of commands and their output, each with the mark of a comment before it, as in a script or a note. One such line is a heading.
_COMMENTED: Final = re.compile(r"(?:^#(?![#!])[^\n]*+(?:\n|\Z)){2,}+", re.MULTILINE)
_COMMENT_MARK: Final = re.compile(r"^# ?", re.MULTILINE)
#: Where bold text begins and ends in Markdown, and the end of a paragraph, which ends it, too.
_EMPHASIS: Final = re.compile(
    r"""(?P<open>(?:(?<![\w*./:-])|(?<=\d/))\*\*(?=[\w"'`({\[]))|"""
    r"""(?P<close>(?<=[\w"'`)}\].!?:,;])\*\*(?![\w*/-]|\.\w))|(?P<break>\n[ \t]*+\n)"""
)
_ENTITY: Final = re.compile(r"&(?:#\d{1,5}|quot|amp|apos|lt|gt);")
#: The first words of a message. Before 1.10 it had others; Volcano, YuniKorn and Kueue have their own.
_HEAD: Final = re.compile(
    # The number of nodes may be redacted.
    r"(?<![\d/])\d{1,7}/(?:\d{1,7}|[xXnN*#?]{1,7}|<[a-zA-Z-]{1,20}>)\s{1,99}nodes\s{1,99}are\s{1,99}(?:un)?available"
    r"|No nodes are available that match all of the (?:following )?predicates"
    r"|pod \([^()\n]{1,253}\) failed to fit in any node"
    r"|no nodes (?:are )?available to schedule pods"
    # Of KAI Scheduler.
    r"|No nodes with enough resources were found: "
    r"|\d{1,7}/\d{1,7} tasks in gang unschedulable|queue resource quota insufficient|resource in cluster is overused"
    r"|(?<=[ \t])[a-z0-9.*/-]{1,317} is queued and waiting for allocation"
    r"|Task [a-z0-9.*/-]{1,317} is (?:skipped from scheduling because|pending for the requested resources)"
    # Of Kueue, about a workload.
    r"|couldn't assign flavors to pod set |(?<=[ \t\"])(?:Local|Cluster)Queue [a-z0-9./-]{1,317} (?:doesn't exist|is inactive|is stopped)"
    r"|[Pp]od didn't trigger scale-up"
    r"|(?:[Cc]ould not|[Ff]ailed to) schedule pod, |(?<=[\t\"])ignoring pod, "
    # Of autoscalers and of the owners of pods, in their events.
    r"|pod triggered scale-up: "
    r"|Node scale up in zones (?:[^\n]{1,400}? )?associated with this pod failed: "
    r"|Pod should schedule on: "
    # The API server's refusal may follow, which a client prints without these words.
    r"|(?P<creating>Error creating(?: [a-z]{1,20} pod)?: )?(?P<forbidden>pods\s\"[^\"\n]{1,253}\"\sis\sforbidden:(?!\s[Uu]ser[\s:]))"
    r"|Error creating(?: [a-z]{1,20} pod)?: "
    r"|(?P<of_set>create Pod [a-z0-9.-]{1,253} in StatefulSet (?P<set>[a-z0-9.-]{1,253}) failed error: )"
)
#: The messages among them that are not of a scheduler.
_OF_OTHERS: Final = re.compile(
    r"pod triggered scale-up: |Node scale up in zones |Pod should schedule on: |Error creating(?: [a-z]{1,20} pod)?: "
    r"|create Pod \S{1,253} in StatefulSet |pods \"[^\"]++\" is forbidden: "
)
_OF_OWNER: Final = "Error creating"
#: The pod that the API server refuses, with the name of its ReplicaSet.
_REFUSED_POD: Final = re.compile(
    rf'pods "(?P<owner>[a-z0-9][a-z0-9.-]{{0,240}}?)-(?:{GENERATED_SUFFIX})?" is forbidden'
    r'|pods "(?P<pod>[a-z0-9][a-z0-9.-]*+)" is forbidden'
)
#: What differs between refusals for the same reason: the words of the controller, and the name that it makes for each pod.
_NAME_OF_REFUSED: Final = re.compile(r'\A(?:Error creating[a-z ]{0,30}: )?pods "[^"]++(?=" is forbidden)')
#: Objects in YAML.
_YAML: Final = re.compile(r"^(?:kind: |- apiVersion: |apiVersion: )", re.MULTILINE)
#: Reasons without the head of their message, as people quote them: `1 node(s) had volume node affinity conflict`.
_REASONS: Final = re.compile(
    r"(?<![\d/.])\d{1,7} (?:node\(s\) (?:had|didn't|did not|exceed|were (?:un|not ready))|Insufficient [\w./-]|Too many pods"
    r"|pod has unbound immediate)|(?<!\w)pod has unbound immediate PersistentVolumeClaims"
    # The console of GKE.
    r"|(?<=Cannot schedule pods: )(?:Insufficient [\w./-]|node\(s\) |[Tt]oo many pods|pod has unbound)"
)
#: What preemption alone says, which the scheduler logs before the message of the same attempt.
_PREEMPTION_REASON: Final = r"\d{1,7} (?:Preemption is not helpful for scheduling|No preemption victims found for incoming pod)"
_ONLY_PREEMPTION: Final = re.compile(
    rf"\d{{1,7}}/\d{{1,7}} nodes are available: {_PREEMPTION_REASON}(?:, {_PREEMPTION_REASON})?+\.{{0,2}}(?:\][^\n]*+)?+"
)
#: What precedes a head that belongs to the message before it.
_OF_PREEMPTION: Final = re.compile(r"(?:preemption:|placement status:)\s{0,99}\Z")
_NAME: Final = re.compile(r"^(\s*+)Name:\s++(\S+)\s*+$")
_NAMESPACE: Final = re.compile(r"^\s*+Namespace:\s++(\S+)\s*+$")


def _describe_command(kinds: str) -> re.Pattern[str]:
    """The command that prints a description, of which perhaps only the end was copied: `kubectl describe pod web-1 -n shop | tail`."""
    tool = r"^[^\n|]{0,80}?\b(?:kubectl|oc|k)\b[^\n|]{0,80}?\bdescribe[ \t]++"
    return re.compile(rf"{tool}(?:{kinds})(?:[ \t]++|/)(?P<rest>[^\n|]{{1,400}}+)", re.MULTILINE)


_COMMAND: Final = _describe_command("pods?|po|workloads?")
#: The command that prints the object of one pod, of which perhaps only the status was copied.
_GET_COMMAND: Final = re.compile(
    r"^[^\n|]{0,80}?\b(?:kubectl|oc|k)\b[^\n|]{0,80}?\bget[ \t]++(?:pods?|po)(?:[ \t]++|/)(?=[^\n|]{1,400}?-o[ \t=]?(?:json|yaml))"
    r"(?P<rest>[^-\n|][^\n|]{0,400}+)",
    re.MULTILINE,
)
_CLAIM_COMMAND: Final = _describe_command("pvc|persistentvolumeclaims?")
_COMMAND_NAMESPACE: Final = re.compile(r"(?:^|[ \t])(?:-n|--namespace)(?:[ \t]++|=)(?P<namespace>[a-z0-9-]++)")
#: More words after a command are prose.
_MAX_ARGUMENTS: Final = 3
_COMMAND_NAME: Final = re.compile(r"(?:^|[ \t])(?P<name>[a-z0-9][a-z0-9.-]*+)(?=[ \t]|$)")
#: A row of `kubectl get pods`, with its namespace if the table has several.
_POD_ROW: Final = re.compile(
    r"^[ \t]*+(?:(?P<namespace>[a-z0-9][a-z0-9-]*+)[ \t]++)?(?:pod/)?(?P<name>[a-z0-9][a-z0-9.-]*+)[ \t]++\d++/\d++[ \t]++"
    r"(?P<status>[A-Z][A-Za-z:0-9/]*+)[ \t]",
    re.MULTILINE,
)
#: The column STATUS of pods without a node.
_WAITING: Final = ("Pending", GATED)
#: A heading between descriptions: `--- Description for web-1 ---`.
_HEADING: Final = re.compile(r"^[ \t]*+(?:-{3,}|={3,}|#{1,6})[ \t]++(?P<title>[^\n]{1,300}+)", re.MULTILINE)
_WORD: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
#: The event of a pod that was placed, and a line of the events of `kubectl describe`.
_ASSIGNED: Final = re.compile(r"\bSuccessfully assigned (?P<pod>[a-z0-9*-]++/[a-z0-9.*-]++) to [a-z0-9*]")
_EVENT_LINE: Final = re.compile(r"[ \t]*+(?:Type[ \t]|-{3,}[ \t]|Normal[ \t]|Warning[ \t])")
#: What spawners and runners of jobs write about a pod of theirs.
_NOT_STARTED: Final = re.compile(
    r"\b[Pp]od (?P<pod>[a-z0-9][a-z0-9-]{0,62}/[a-z0-9][a-z0-9.-]{0,252}) (?:did not start\b|to be running, status is Pending\b)"
    r"|\bpod/(?P<name>[a-z0-9][a-z0-9.-]{0,252}) did not start\b"
)
#: The pod directly before its message: `pod/web-1: 0/3 nodes are available`.
_BEFORE_MESSAGE: Final = re.compile(r"\b[Pp]od/(?P<name>[a-z0-9][a-z0-9.-]{0,252}):[ \t]{1,3}$")
#: The pod in the words of a plugin's error, and of those that reject a group after PostFilter.
_POD_IN_ERROR: Final = re.compile(
    r'\bplugin for pod "(?P<name>[a-z0-9][a-z0-9.-]{0,252})": |\bpod (?P<rejected>[a-z0-9][a-z0-9./-]{0,252}) '
    r"(?:is unschedulable )?even after PostFilter"
)
#: The first line of a description, and a line that only those of volumes and nodes have.
_DESCRIPTION: Final = re.compile(r"^Name:[ \t]++\S++[ \t]*+$", re.MULTILINE)
_NO_POD: Final = re.compile(r"^(?:Reclaim Policy|Roles):", re.MULTILINE)
_DESCRIBED: Final = re.compile(r"^[ \t]*+(?:Name|Namespace):[ \t]++\S++[ \t]*+$", re.MULTILINE)
#: A row of `kubectl get events`: `[NAMESPACE] LAST-SEEN TYPE REASON [pod/]NAME …`. The owner of pods has another kind.
_ROW: Final = re.compile(
    rf"^(?P<before>.*?)\b(?:{'|'.join((FAILED_SCHEDULING, *OTHER_REASONS))})\s++(?P<pod>[A-Za-z][A-Za-z.]*+/[^\s:]++|\S++):?\s"
)
#: How much of a line before a message is examined for its pod and its time.
_BEFORE: Final = 4_000
#: How far before a failure in a log its line, with the time, may begin.
_LINE: Final = 20_000
_AGE: Final = re.compile(r"(?:\d++[smhdy])++")
#: How often an event was repeated.
_REPEATED: Final = re.compile(r"\(x(?P<times>\d{1,9}) over (?P<span>(?:\d{1,9}[smhdy])++)\)")
_AGE_PART: Final = re.compile(r"(\d{1,9})([smhdy])")
#: The time of a line of a log of a Kubernetes component, `I1126 02:51:07.116508`, and as it is reported, `11-26 02:51:07`.
_LOG_TIME: Final = re.compile(r"(?:^|\s)[IWEF](?P<month>\d\d)(?P<day>\d\d) (?P<time>\d\d:\d\d:\d\d)\.\d")
_REPORTED_LOG_TIME: Final = re.compile(r"(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)")
#: The time at the beginning of a line, RFC 3339: `2026-03-10T23:24:22.061Z [Warning] …`.
#: In logfmt it is a value: `time="2026-03-10T23:24:22.061Z" level=info`.
_LINE_TIME: Final = re.compile(
    r'(?:[ \t\[]{0,9}|[^\n]{0,200}?\btime=\\{0,3}")(?P<second>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?'
    r'(?P<zone>Z|[+-]\d\d:\d\d)(?=[\s\]"\\])'
)
#: The same with a space, as programs in Python write it: `[2026-03-10, 23:24:22 PDT]`, `2026-03-10 23:24:22,061 INFO`; and as it is
#: reported.
_SPACED_TIME: Final = re.compile(
    r"[ \t]{0,9}\[?(?P<day>\d{4}-\d\d-\d\d)(?:,? |T)(?P<time>\d\d:\d\d:\d\d)(?:[.,]\d{1,9})?"
    r"(?P<zone> ?(?:UTC|GMT|[A-Z]{1,2}[DS]?T|[+-]\d{4}))?(?=[\s\]])"
)
_REPORTED_SPACED_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\b.*")
_RFC_3339: Final = re.compile(r"\d{4}-\d\d-\d\dT.*")
#: More seconds since 1970 than any time has.
_LAST_SECOND: Final = 1_000_000_000_000
#: More than the seconds of a year of twelve months with 31 days.
_YEAR_SECONDS: Final = 40_000_000
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "y": 31_536_000}
#: The pod in a log line or an event: `pod="default/web"`; before 1.19 `Unable to schedule default/web: …`.
_LOGGED_POD: Final = re.compile(
    r"""\bpod="?([a-z0-9.*-]++/[a-z0-9.*-]++)|\b(?:Unable to schedule|Error scheduling) ([a-z0-9.-]++/[a-z0-9.-]++):"""
)
#: The pod in a line that reports an event: `Event(v1.ObjectReference{Kind:"Pod", Namespace:"shop", Name:"web", …`.
_REFERENCE: Final = re.compile(r'Kind:"Pod", Namespace:"([a-z0-9.-]++)", Name:"([a-z0-9.-]++)"')
#: The rest of a row or a line of an event whose message has none of the heads. Prose that mentions the reason is none.
_AFTER_REASON: Final = re.compile(
    rf"(?:\bWarning[ \t|]++{FAILED_SCHEDULING}\b|\breason: '?{FAILED_SCHEDULING}'|\b{FAILED_SCHEDULING}:)[ \t|]*+(?P<rest>[^\n]++)"
)
#: Columns between the reason and the message: the age, the object, the scheduler.
_COLUMN: Final = re.compile(
    r"(?:<unknown>|<invalid>|\d++[smhdy]\S*+(?:[ \t]\(x\d++ over [^()\n]*+\))?"
    r"|[Pp]od/\S++|\S*scheduler\S*|volcano|yunikorn|karpenter)(?:[ \t]++|$)"
)
#: A line of a log about a pod that could not be tried or bound; before 1.19 with the error in front of `retrying`.
_ERROR: Final = re.compile(r'"(?:Error scheduling pod(?:;[^"\n]{0,60})?|PreFilter failed)"(?P<values>[^\n]*+)')
#: YuniKorn calls a pod a task. Volcano says where it could place a pod of a group that is not complete.
_TASK: Final = re.compile(
    r"(?:Task )?(?P<pod>[a-z0-9-]{1,63}/[a-z0-9.-]{1,253}) is (?:queued|skipped|pending) "
    r"|Pod (?P<possible>[a-z0-9-]{1,63}/[a-z0-9.-]{1,253}) can possibly be assigned to "
)
#: Before 1.9: the pod in the message, and its namespace in the same log.
_OLD_NAME: Final = re.compile(r"pod \(([a-z0-9.*-]{1,253})\) failed to fit")
_OLD_NAMESPACE: Final = re.compile(
    r"\b(?:Error scheduling|[Ff]ailed to schedule pod:) (?P<namespace>[a-z0-9*-]{1,63}+)[ /](?P<name>[a-z0-9.*-]{1,253}+)"
)
_OLD_ERROR: Final = re.compile(r"Error scheduling (?P<pod>[a-z0-9.-]++/[a-z0-9.-]++): ")
_RETRYING: Final = re.compile("; retrying")
#: The pod among the values of a line, perhaps without its namespace.
_JSON_POD: Final = re.compile(r'"pod":"([a-z0-9.*-]++(?:/[a-z0-9.*-]++)?)"')
#: The pod in the sentence that ends with the message: `Pod shop/web cannot be scheduled: `.
_POD_IN_SENTENCE: Final = re.compile(
    r"""\b[Pp]od[ \t]{1,3}["'`*]{0,2}([a-z][a-z0-9-]{0,62}/[a-z0-9][a-z0-9.-]{0,252})["'`*]{0,2}[ \t:,][^\n\\]{0,200}$"""
)
#: Labels of an alert before the message, also in JSON and with escaped line breaks: `pod = web`, `namespace="shop"`.
_ALERT_LABEL: Final = re.compile(
    r"""(?:(?<![A-Za-z0-9_])(?<!Created )(?<!Deleted )|(?<=\\n))(?:exported_)?(?P<label>pod_name|pod|namespace)\\?["']?"""
    r"""[ \t]?[=:][ \t]?\\?["']?(?P<value>[a-z0-9][a-z0-9.-]{0,252}+)(?![A-Za-z0-9_/])"""
)
_ERR_VALUE: Final = re.compile(r'\berr="((?:[^"\\\n]|\\.)*+)"')


class _List(msgspec.Struct):
    items: list[msgspec.Raw]


def plain(text: str) -> str:
    """The text without the escape sequences of a terminal, the marks of quoted and commented lines, frames, and typographic letters."""
    text = _FRAME.sub("", _ESCAPES.sub("", text).replace("\r\n", "\n"))
    text = _QUOTE.sub("", text.translate(_LETTERS))
    text = _COMMENTED.sub(lambda lines: _COMMENT_MARK.sub("", lines[0]), text)
    return without_emphasis(_ENTITY.sub(lambda entity: html.unescape(entity[0]), text))


def without_emphasis(text: str) -> str:
    """The text without Markdown's `**bold**`. Asterisks inside names, which people write over what they hide, stay: `ip-**-**-29`."""
    if "**" not in text:
        return text
    pieces: list[str] = []
    begin, opened = 0, list[re.Match[str]]()
    for mark in _EMPHASIS.finditer(text):
        if mark["open"] is not None:
            opened.append(mark)
            continue
        if mark["close"] is not None and opened:
            for each in (*opened, mark):
                pieces.append(text[begin : each.start()])
                begin = each.end()
        opened.clear()
    return "".join((*pieces, text[begin:]))


def messages_in(text: str, *, of_others: bool = True) -> list[PodMessage]:
    """The messages, each once with its newest time, in the order of the text. `pod` is "" if the text does not name it.

    `of_others`: also those of autoscalers, and why pods were not created, for which `pod` has the name of their owner.
    """
    found: dict[tuple[str, str], PodMessage] = {}
    all_found: Iterable[PodMessage] = _of_items(items_in(text), of_others=of_others)
    if not all_found:
        shown = with_text_lines(plain(text))
        all_found = list(_in_plain(shown, of_others=of_others)) or (list(_in_place_of_messages(shown)) if of_others else [])
    for said in with_logged_pod(joined_pods(all_found) if of_others else all_found, text):
        if not of_others and _OF_OTHERS.match(said.message):
            continue
        key = (said.pod, _NAME_OF_REFUSED.sub("", said.message) if said.pod else said.message)
        known = found.setdefault(key, said)
        if seconds_of_age(said.at) < seconds_of_age(known.at):
            found[key] = said
        if len(found) == MAX_MESSAGES:
            break
    return list(found.values())


def seconds_of_age(at: str) -> float:
    """Seconds since a message was sent "5m ago"; without a time it is of any age.

    Of the time of a log or an Event only the order is known: the later of two has the smaller number.
    """
    spaced = _REPORTED_SPACED_TIME.fullmatch(at)
    if spaced is not None or _RFC_3339.fullmatch(at):
        try:
            return _LAST_SECOND - parse_timestamp(at if spaced is None else f"{spaced[1]}T{spaced[2]}Z")
        except ValueError:
            return float("inf")
    if logged := _REPORTED_LOG_TIME.fullmatch(at):
        month, day, hour, minute, second = map(int, logged.groups())
        return _YEAR_SECONDS - ((month * 31 + day) * 86_400 + hour * 3_600 + minute * 60 + second)
    parts = _AGE_PART.findall(at)
    return sum(int(count) * _SECONDS[unit] for count, unit in parts) if parts else float("inf")


def items_in(text: str) -> list[Any]:
    """The objects of a text, if it is JSON or YAML: of YAML only those that may have a message."""
    return _json_items(text) or _yaml_items(text)


def _json_items(text: str) -> list[Any]:
    text = _output(text)
    try:
        return msgspec.json.decode(text, type=_List).items
    except (msgspec.MsgspecError, RecursionError):
        return [msgspec.Raw(text.encode("utf-8", "replace"))] if text.lstrip().startswith("{") else []


def _yaml_items(text: str) -> list[Any]:
    if _YAML.search(text) is None:
        return []
    items: list[Any] = []
    try:
        for document in yaml_lines.documents(_output(text)):
            cut = yaml_lines.list_items(document)
            pieces = (document,) if cut is None else cut[1]
            items += [parse_lines("text", 1, piece, Limits()) for piece in pieces if _may_have_message(piece)]
    except (IngestError, RecursionError):
        return []
    return [item for item in items if isinstance(item, dict)]


def _may_have_message(piece: yaml_lines.Lines) -> bool:
    words = (FAILED_SCHEDULING, "available", "Scheduled", "Pending", "nodeName", QUOTA_RESERVED, *OTHER_REASONS)
    return any(word in line for line in piece.lines for word in words)


def _output(text: str) -> str:
    """The output of a command, without its prompt and the warnings before it."""
    return without_warnings(without_terminal(text.encode("utf-8", "replace"))).decode()


def _of_items(items: Iterable[Any], *, of_others: bool) -> list[PodMessage]:
    """The messages of Events and of pods.

    `of_others`: also why workloads are not admitted, and that no scheduler has tried a pod; if no pod waits, why others do not run.
    """
    reasons = (FAILED_SCHEDULING, *OTHER_REASONS)
    found: list[PodMessage] = []
    placed: list[PodMessage] = []
    for item in items:
        if (said := message_in_event(item, reasons)) is not None:
            found.append(said)
        elif (pod := pod_of(item)) is not None:
            said = message_of_pod(pod)
            if said is not None and (of_others or not said.message.startswith((OTHER_SCHEDULER, UNTRIED))):
                found.append(said)
            elif (stuck := message_of_placed(pod)) is not None:
                placed.append(stuck)
        elif of_others and (said := message_of_workload(item)) is not None:
            found.append(said)
    return found or (placed if of_others else [])


def _in_place_of_messages(text: str) -> Iterator[PodMessage]:
    """What a text without a message says instead: an error of Karpenter apart from its line, why the kubelet does not start pods, and the
    states of pods and claims.
    """
    yield from karpenter_errors(text)
    of_kubelet = list(kubelet_messages(text, DescribedPods(text).pod_before))
    yield from of_kubelet
    explained = {each.pod for each in of_kubelet}
    yield from (state for state in pod_states(text) if state.pod not in explained)


def _in_plain(text: str, *, of_others: bool) -> Iterator[PodMessage]:
    argo = ArgoLog(text)
    found = list(_each(text, argo))
    if started := argo.started:
        found = [each for each in found if each.pod not in started]
    if len(pods := {each.pod for each in found if each.pod}) == 1 and _POD_IN_ERROR.search(text) is not None:
        found = [each if each.pod else msgspec.structs.replace(each, pod=next(iter(pods))) for each in found]
    if "status is Pending" in text:
        found = _newest_of_runner(found, {match["pod"] for match in _NOT_STARTED.finditer(text)})
    named = {each.message for each in found if each.pod}
    found = [each for each in found if each.pod or each.message not in named]
    reasoned = {each.pod for each in found if not _ONLY_PREEMPTION.fullmatch(each.message)}
    yield from (each for each in found if each.pod not in reasoned or not _ONLY_PREEMPTION.fullmatch(each.message))
    if not found and not started and (reasons := _REASONS.search(text)) is not None:
        pod = DescribedPods(text).pod_before(len(text))
        yield PodMessage(pod, whole_message(text, reasons.start(), reasons.end())[0])
    if of_others:
        yield from (PodMessage(pod, f"{STATUS}{state}") for pod, state in started.items())
        yield from of_cluster_autoscaler(text)
        yield from of_status(text)
        yield from karpenter_states(text, is_alone=not found)
        yield from (PodMessage(pod, said) for pod, said in (*untried_pods(text), *stopped_schedulers(text)))
        if (lost := lost_lease(text)) is not None:
            lease, line, said = lost
            yield PodMessage(lease, said, at=log_time(line))


def _newest_of_runner(found: list[PodMessage], pods: Collection[str | None]) -> list[PodMessage]:
    """The messages; of those that a runner of jobs prints again and again about a pod, the last one."""
    last = {each.pod: each for each in found if each.pod in pods}
    return [each for each in found if each.pod not in last or each is last[each.pod]]


def _each(text: str, argo: ArgoLog) -> Iterator[PodMessage]:
    described = DescribedPods(text)
    at = 0
    while True:
        head = _HEAD.search(text, at)
        upto = len(text) if head is None else head.start()
        yield from _without_head(text, at, upto, described)
        if head is None:
            return
        if _OF_PREEMPTION.search(text, max(0, head.start() - 120), head.start()):
            at = head.end()
            continue
        line = text[line_start(text, head.start(), _BEFORE) : head.start()]
        if head[0].startswith(_OF_OWNER) and head["forbidden"] is None and line.strip() and FAILED_CREATE not in line:
            # Any program may write so.
            at = head.end()
            continue
        message, end = whole_message(text, head.start(), head.end())
        if argo.is_of_past(head.start()):
            at = max(end, head.end())
            continue
        pod, when = _about(line, argo.pod_at(head.start()) or described.pod_before(head.start()))
        message, logged_pod = without_values(message)
        pod = logged_pod or pod
        if head["of_set"] is not None:
            pod = f"{pod.partition('/')[0] or 'default'}/{head['set']}"
        if not pod and (refused := _REFUSED_POD.search(message)) is not None:
            pod = f"default/{refused['owner'] or refused['pod']}"
        if not pod and (named := _JSON_POD.match(text, text.find('"pod":"', head.end(), _near_line_end(text, end)))) is not None:
            pod = with_namespace(named[1])
        before = text[max(at, head.start() - _BEFORE) : head.start()]
        repeated = _REPEATED.search(line)
        times, span = (int(repeated["times"]), repeated["span"]) if repeated is not None else (1, "")
        pod = pod or _named_by_itself(message, before) or _named_in_prose(before) or _named_after(text, end)
        yield PodMessage(pod, message, at=when, times=times, span=span)
        at = max(end, head.end())


class _LineTimes:
    """When lines of a log were written. Each line is looked at once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._line = -1
        self._time: re.Match[str] | None = None

    def at(self, offset: int) -> str:
        """The time before an offset in its line; "": there is none."""
        line = line_start(self._text, offset, _LINE)
        if line and self._text[line - 1] != "\n":
            # The line is longer than any of a log.
            return ""
        if line != self._line:
            self._line, self._time = line, _LOG_TIME.search(self._text, line, line + _BEFORE)
        return _reported(self._time) if self._time is not None and self._time.end() <= offset else ""


class DescribedPods:
    """The pods of `kubectl describe` in a text, each from its `Name:` line on."""

    def __init__(self, text: str) -> None:
        others = {start for start, _ in _parts_with(_NO_POD, text)}
        self._lines = [(match.start(), "" if match.start() in others else match[0]) for match in _DESCRIBED.finditer(text)]
        self._line_starts = [start for start, _ in self._lines]
        commands = sorted((*_COMMAND.finditer(text), *_GET_COMMAND.finditer(text)), key=lambda match: match.start())
        self._commands = [(match.start(), name) for match in commands if (name := _pod_of_command(match[0], match["rest"]))]
        rows = list(_POD_ROW.finditer(text))
        self._pending = {f"{row['namespace'] or 'default'}/{row['name']}" for row in rows if row["status"] in _WAITING}
        self._headings = list(_headings(text, {row["name"]: f"{row['namespace'] or 'default'}/{row['name']}" for row in rows}))
        self._placed = list(_placed_pods(text))
        self._not_started = {match["pod"] or f"default/{match['name']}" for match in _NOT_STARTED.finditer(text)}
        self._claims = [
            (match.start(), name) for match in _CLAIM_COMMAND.finditer(text) if (name := _pod_of_command(match[0], match["rest"]))
        ]
        self._next = self._next_command = 0
        #: The pod of the last command that printed no name.
        self._last = ""
        self._name = self._namespace = ""
        #: The indentation of the pod's name: that of a volume's ConfigMap is deeper.
        self._indent = 0

    def pod_before(self, offset: int) -> str:
        """The pod that is described at an offset; "" if none is. Offsets must not decrease."""
        while self._next_command < len(self._commands) and self._commands[self._next_command][0] < offset:
            at, name = self._commands[self._next_command]
            self._next_command += 1
            first_after = bisect_right(self._line_starts, at)
            if first_after == len(self._line_starts) or self._line_starts[first_after] >= offset:
                self._last = name
                return name
        return self._of_lines(offset) or self._of_events(offset) or self._of_heading(offset) or self._last or self._of_text()

    def claim_before(self, offset: int, described: str) -> str:
        """The claim that is described at an offset where `pod_before` finds `described`; "": the text does not name it."""
        at = bisect_right(self._claims, offset, key=lambda each: each[0]) - 1
        line = bisect_right(self._line_starts, offset) - 1
        if at >= 0 and (line < 0 or self._line_starts[line] < self._claims[at][0]):
            return self._claims[at][1]
        # What only a table or a command names is a pod.
        return described if line >= 0 else ""

    def _of_text(self) -> str:
        """The only pending pod of a table in the text, or the only one that did not start; "": there is none, or there are several."""
        known = self._pending or self._not_started
        return next(iter(known)) if len(known) == 1 else ""

    def _of_events(self, offset: int) -> str:
        """The pod of the events at an offset, by the event that it was placed; "": there is no such event."""
        at = bisect_right(self._placed, offset, key=lambda each: each[0]) - 1
        return self._placed[at][2] if at >= 0 and offset < self._placed[at][1] else ""

    def _of_heading(self, offset: int) -> str:
        at = bisect_right(self._headings, offset, key=lambda each: each[0]) - 1
        return self._headings[at][1] if at >= 0 else ""

    def _of_lines(self, offset: int) -> str:
        while self._next < len(self._lines) and self._lines[self._next][0] < offset:
            line = self._lines[self._next][1]
            if not line:
                # The description of a volume or a node ends that of the pod.
                self._name = self._namespace = ""
            elif (name := _NAME.match(line)) is not None:
                if not self._name or len(name[1]) <= self._indent or self._has_namespace_next():
                    self._name, self._namespace, self._indent = name[2], "", len(name[1])
            elif (namespace := _NAMESPACE.match(line)) is not None:
                self._namespace = namespace[1]
            self._next += 1
        return f"{self._namespace or 'default'}/{self._name}" if self._name else ""

    def _has_namespace_next(self) -> bool:
        """Whether a namespace follows the name, as in the head of a description."""
        return self._next + 1 < len(self._lines) and _NAMESPACE.match(self._lines[self._next + 1][1]) is not None


def _headings(text: str, pods: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Where the headings are that name one pod of a table, with that pod."""
    for heading in _HEADING.finditer(text) if pods else ():
        named = {pods[word] for word in _WORD.findall(heading["title"]) if word in pods}
        if len(named) == 1:
            yield heading.start(), next(iter(named))


def _placed_pods(text: str) -> Iterator[tuple[int, int, str]]:
    """Each list of events in which one pod was scheduled: where it begins and ends, and the pod."""
    end = 0
    for assigned in _ASSIGNED.finditer(text):
        begin = line_start(text, assigned.start(), _BEFORE)
        if begin < end or _EVENT_LINE.match(text, begin) is None:
            continue
        while begin > end and _EVENT_LINE.match(text, before := max(text.rfind("\n", end, begin - 1) + 1, end)) is not None:
            begin = before
        end = _line_end(text, assigned.end())
        while _EVENT_LINE.match(text, end) is not None:
            end = _line_end(text, end)
        if len({match["pod"] for match in _ASSIGNED.finditer(text, begin, end)}) == 1:
            yield begin, end, assigned["pod"]


def _line_end(text: str, offset: int) -> int:
    """Where the next line begins."""
    newline = text.find("\n", offset)
    return len(text) if newline < 0 else newline + 1


def _near_line_end(text: str, offset: int) -> int:
    """The end of the line, but at most `_BEFORE` characters after an offset: a search in the whole text would take quadratic time."""
    newline = text.find("\n", offset, offset + _BEFORE)
    return min(len(text), offset + _BEFORE) if newline < 0 else newline


def _parts_with(line: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Where descriptions begin and end that have a line."""
    starts = [match.start() for match in _DESCRIPTION.finditer(text)]
    for start, end in itertools.pairwise((*starts, len(text))):
        if line.search(text, start, end) is not None:
            yield start, end


def _pod_of_command(command: str, rest: str) -> str:
    """The pod of a command; "" for a placeholder, and for prose that mentions the command."""
    if "<" in rest or len(_COMMAND_NAMESPACE.sub(" ", rest).split()) > _MAX_ARGUMENTS:
        return ""
    namespace = _COMMAND_NAMESPACE.search(command)
    name = _COMMAND_NAME.search(_COMMAND_NAMESPACE.sub(" ", rest))
    return f"{namespace['namespace'] if namespace is not None else 'default'}/{name['name']}" if name is not None else ""


def _about(before: str, described: str) -> tuple[str, str]:
    """The pod of a message, and when it was sent, by what precedes the message in its line."""
    if logged := _LOGGED_POD.search(before):
        return logged[1] or logged[2], log_time(before)
    if reference := _REFERENCE.search(before):
        return f"{reference[1]}/{reference[2]}", ""
    row = _ROW.match(f"{before} ")
    if row is None:
        return described, log_time(before)
    _, is_named, name = row["pod"].partition("/")
    if not is_named and _AGE.fullmatch(row["pod"]):
        # The events of `kubectl describe` have their age after the reason.
        return described, f"{row['pod']} ago"
    if not is_named and described:
        return described, ""
    columns = row["before"].strip(" |`").split()
    # The last column before the reason is the type; before it is the time, and before that perhaps the namespace.
    at = f"{columns[-2]} ago" if len(columns) > 1 and _AGE.fullmatch(columns[-2]) else log_time(before)
    if not is_named:
        return described, at
    return f"{columns[0] if len(columns) > 2 else 'default'}/{name}", at


def _named_by_itself(message: str, before: str) -> str:
    """The pod that a message of YuniKorn names, or one of an old release, with the namespace that a line before it has; "": none."""
    if (task := _TASK.match(message)) is not None:
        return task["pod"] or task["possible"]
    if (error := _POD_IN_ERROR.search(message)) is not None:
        return with_namespace(error["name"] or error["rejected"])
    if (named := _OLD_NAME.match(message)) is None:
        return ""
    namespaces = [match["namespace"] for match in _OLD_NAMESPACE.finditer(before) if match["name"] == named[1]]
    return f"{namespaces[-1] if namespaces else 'default'}/{named[1]}"


def _named_after(text: str, end: int) -> str:
    """The pod that the words of a plugin after a message name; "": none."""
    error = _POD_IN_ERROR.search(text, max(0, end - _BEFORE), _near_line_end(text, end))
    return with_namespace(error["rejected"]) if error is not None and error["rejected"] and "\n" not in text[error.start() : end] else ""


def _named_in_prose(before: str) -> str:
    """The pod that a sentence or the labels of an alert name before a message; "": none, or several."""
    if (named := _BEFORE_MESSAGE.search(before)) is not None:
        return with_namespace(named["name"])
    sentences: list[str] = _POD_IN_SENTENCE.findall(before)
    if sentences:
        return sentences[-1]
    values: dict[str, set[str]] = {"pod": set(), "namespace": set(), "pod_name": set()}
    for label in _ALERT_LABEL.finditer(before):
        values[label["label"]].add(label["value"])
    if not values["pod"] and values["namespace"]:
        # With a `namespace_name` instead, it is that of the pod which wrote the log.
        values["pod"] = values["pod_name"]
    if len(values["pod"]) != 1 or len(values["namespace"]) > 1:
        return ""
    return f"{next(iter(values['namespace']), 'default')}/{next(iter(values['pod']))}"


def line_start(text: str, offset: int, limit: int) -> int:
    """Where the line at an offset begins, but at most `limit` characters before: a search in the whole text would take quadratic time."""
    earliest = max(0, offset - limit)
    return max(text.rfind("\n", earliest, offset) + 1, earliest)


def log_time(line: str) -> str:
    """When a line of a log was written, such as `11-26 02:51:07`, `2026-03-10 23:24:22 PDT` or RFC 3339; "": it does not say so."""
    if (at := _LOG_TIME.search(line[:_BEFORE])) is not None:
        return _reported(at)
    if (leading := _LINE_TIME.match(line)) is not None:
        return f"{leading['second']}{leading['zone']}"
    if (spaced := _SPACED_TIME.match(line)) is not None:
        return f"{spaced['day']} {spaced['time']} {(spaced['zone'] or '').strip()}".rstrip()
    return ""


def _reported(time: re.Match[str]) -> str:
    return f"{time['month']}-{time['day']} {time['time']}"


def _without_head(text: str, start: int, stop: int, described: DescribedPods) -> Iterator[PodMessage]:
    """The messages between two offsets that count no nodes: events of the scheduler with another text, and failures in its log."""
    if FAILED_SCHEDULING in text[start:stop]:
        for event in _AFTER_REASON.finditer(text, start, stop):
            rest = event["rest"]
            while (place := _COLUMN.match(rest)) is not None and place.end() < len(rest):
                rest = rest[place.end() :]
            is_cut = event.end() == stop < len(text) and text[stop] != "\n"
            if is_cut or " " not in rest.strip() or not rest.strip(" -|`*"):
                continue
            line = text[line_start(text, event.start(), _BEFORE) : event.start("rest") + 300]
            pod, when = _about(line, described.pod_before(event.start()))
            message = whole_message(text, event.end() - len(rest), event.end() - len(rest))[0]
            yield PodMessage(pod or _named_by_itself(message, ""), message, at=when)
    yield from of_karpenter(text, start, stop)
    if "Error scheduling" in text[start:stop] or "PreFilter failed" in text[start:stop]:
        times = _LineTimes(text)
        for old, retrying in _in_lines(_OLD_ERROR, _RETRYING, text, start, stop):
            yield PodMessage(old["pod"], text[old.end() : retrying.start()], at=times.at(old.start()))
        for error in _ERROR.finditer(text, start, stop):
            if (value := _ERR_VALUE.search(error["values"])) is not None:
                named = _LOGGED_POD.search(error["values"])
                pod = named[1] or "" if named is not None else ""
                yield PodMessage(pod, whole_message(value[1], 0, 0)[0], at=times.at(error.start()))


def _in_lines(
    first: re.Pattern[str], then: re.Pattern[str], text: str, start: int, stop: int
) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Each match of `first`, and that of `then` after it in its line. One expression for both would take quadratic time without `then`."""
    at = line_end = start
    while (begin := first.search(text, at, stop)) is not None:
        if begin.end() > line_end or line_end == start:
            newline = text.find("\n", begin.end(), stop)
            line_end = stop if newline < 0 else newline
        end = then.search(text, begin.end(), line_end)
        if end is not None:
            yield begin, end
        at = line_end if end is None else end.end()
