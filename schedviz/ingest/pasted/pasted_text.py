"""`messages_in`: the scheduler's messages in a copied text: kubectl's tables and descriptions, logs, chats, issues, JSON and YAML.

Unlike `kubectl/tables_and_descriptions.py`, which reads whole files, it accepts fragments: prompts and colours of a terminal, frames of a
terminal program, quotes, comments, diffs, escaped strings, and wrapped lines.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

import msgspec

from schedviz.ingest.events import FAILED_CREATE, FAILED_SCHEDULING, OTHER_REASONS, message_in_event
from schedviz.ingest.logs.lost_leases import lost_lease
from schedviz.ingest.pasted.argo_logs import ArgoLog
from schedviz.ingest.pasted.autoscaler_logs import (
    joined_pods,
    karpenter_errors,
    messages_of_cluster_autoscaler,
    messages_of_karpenter,
    with_logged_pod,
    with_namespace,
    without_values,
)
from schedviz.ingest.pasted.autoscaler_status import messages_of_status
from schedviz.ingest.pasted.copied_text import CopiedText
from schedviz.ingest.pasted.karpenter_states import karpenter_states
from schedviz.ingest.pasted.kubelet_messages import kubelet_messages
from schedviz.ingest.pasted.line_bounds import MAX_LINE_LENGTH, line_start, near_line_end
from schedviz.ingest.pasted.message_ends import whole_message
from schedviz.ingest.pasted.message_times import LineTimes, log_time, seconds_of_age
from schedviz.ingest.pasted.pod_objects import (
    OTHER_SCHEDULER,
    UNTRIED,
    message_of_placed,
    message_of_pod,
    message_of_workload,
    pod_of,
)
from schedviz.ingest.pasted.pod_positions import NOT_STARTED, PodPositions
from schedviz.ingest.pasted.pod_states import pod_states
from schedviz.ingest.pasted.stopped_schedulers import stopped_schedulers
from schedviz.ingest.pasted.untried_pods import untried_pods
from schedviz.ingest.scheduler_messages import PodMessage
from schedviz.kube.pod_status import GENERATED_SUFFIX, STATUS

#: The longest text that the REST API explains, in characters. Longer ones are refused, and never cut.
MAX_TEXT_LENGTH: Final = 2 << 20
#: The most messages that are returned.
MAX_MESSAGES: Final = 500
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
#: The pod directly before its message: `pod/web-1: 0/3 nodes are available`.
_BEFORE_MESSAGE: Final = re.compile(r"\b[Pp]od/(?P<name>[a-z0-9][a-z0-9.-]{0,252}):[ \t]{1,3}$")
#: The pod in the words of a plugin's error, and of those that reject a group after PostFilter.
_POD_IN_ERROR: Final = re.compile(
    r'\bplugin for pod "(?P<name>[a-z0-9][a-z0-9.-]{0,252})": |\bpod (?P<rejected>[a-z0-9][a-z0-9./-]{0,252}) '
    r"(?:is unschedulable )?even after PostFilter"
)
#: A row of `kubectl get events`: `[NAMESPACE] LAST-SEEN TYPE REASON [pod/]NAME …`. The owner of pods has another kind.
_ROW: Final = re.compile(
    rf"^(?P<before>.*?)\b(?:{'|'.join((FAILED_SCHEDULING, *OTHER_REASONS))})\s++(?P<pod>[A-Za-z][A-Za-z.]*+/[^\s:]++|\S++):?\s"
)
_AGE: Final = re.compile(r"(?:\d++[smhdy])++")
#: How often an event was repeated.
_REPEATED: Final = re.compile(r"\(x(?P<times>\d{1,9}) over (?P<span>(?:\d{1,9}[smhdy])++)\)")
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


def messages_in(text: CopiedText, *, of_others: bool = True) -> list[PodMessage]:
    """The messages, each once with its newest time, in the order of the text. `pod` is "" if the text does not name it.

    `of_others`: also those of autoscalers, and why pods were not created, for which `pod` has the name of their owner.
    """
    found: dict[tuple[str, str], PodMessage] = {}
    all_found: Iterable[PodMessage] = _messages_of_items(text.items, of_others=of_others)
    if not all_found:
        lines = text.lines
        all_found = list(_messages_of_plain_text(lines, of_others=of_others)) or (list(_in_place_of_messages(lines)) if of_others else [])
    for said in with_logged_pod(joined_pods(all_found) if of_others else all_found, text.text):
        if not of_others and _OF_OTHERS.match(said.message):
            continue
        key = (said.pod, _NAME_OF_REFUSED.sub("", said.message) if said.pod else said.message)
        known = found.setdefault(key, said)
        if seconds_of_age(said.at) < seconds_of_age(known.at):
            found[key] = said
        if len(found) == MAX_MESSAGES:
            break
    return list(found.values())


def _messages_of_items(items: Iterable[Any], *, of_others: bool) -> list[PodMessage]:
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
    of_kubelet = list(kubelet_messages(text, PodPositions(text).pod_before))
    yield from of_kubelet
    explained = {each.pod for each in of_kubelet}
    yield from (state for state in pod_states(text) if state.pod not in explained)


def _messages_of_plain_text(text: str, *, of_others: bool) -> Iterator[PodMessage]:
    argo = ArgoLog(text)
    found = list(_messages_with_heads(text, argo))
    if started := argo.started:
        found = [each for each in found if each.pod not in started]
    if len(pods := {each.pod for each in found if each.pod}) == 1 and _POD_IN_ERROR.search(text) is not None:
        found = [each if each.pod else msgspec.structs.replace(each, pod=next(iter(pods))) for each in found]
    if "status is Pending" in text:
        found = _newest_of_runner(found, {match["pod"] for match in NOT_STARTED.finditer(text)})
    named = {each.message for each in found if each.pod}
    found = [each for each in found if each.pod or each.message not in named]
    reasoned = {each.pod for each in found if not _ONLY_PREEMPTION.fullmatch(each.message)}
    yield from (each for each in found if each.pod not in reasoned or not _ONLY_PREEMPTION.fullmatch(each.message))
    if not found and not started and (reasons := _REASONS.search(text)) is not None:
        pod = PodPositions(text).pod_before(len(text))
        yield PodMessage(pod, whole_message(text, reasons.start(), reasons.end())[0])
    if of_others:
        yield from (PodMessage(pod, f"{STATUS}{state}") for pod, state in started.items())
        yield from messages_of_cluster_autoscaler(text)
        yield from messages_of_status(text)
        yield from karpenter_states(text, is_alone=not found)
        yield from (PodMessage(pod, said) for pod, said in (*untried_pods(text), *stopped_schedulers(text)))
        if (lost := lost_lease(text)) is not None:
            lease, line, said = lost
            yield PodMessage(lease, said, at=log_time(line))


def _newest_of_runner(found: list[PodMessage], pods: Collection[str | None]) -> list[PodMessage]:
    """The messages; of those that a runner of jobs prints again and again about a pod, the last one."""
    last = {each.pod: each for each in found if each.pod in pods}
    return [each for each in found if each.pod not in last or each is last[each.pod]]


def _messages_with_heads(text: str, argo: ArgoLog) -> Iterator[PodMessage]:
    described = PodPositions(text)
    at = 0
    while True:
        head = _HEAD.search(text, at)
        upto = len(text) if head is None else head.start()
        yield from _messages_without_heads(text, at, upto, described)
        if head is None:
            return
        if _OF_PREEMPTION.search(text, max(0, head.start() - 120), head.start()):
            at = head.end()
            continue
        line = text[line_start(text, head.start(), MAX_LINE_LENGTH) : head.start()]
        if head[0].startswith(_OF_OWNER) and head["forbidden"] is None and line.strip() and FAILED_CREATE not in line:
            # Any program may write so.
            at = head.end()
            continue
        message, end = whole_message(text, head.start(), head.end())
        if argo.is_of_past(head.start()):
            at = max(end, head.end())
            continue
        pod, when = _pod_and_time(line, argo.pod_at(head.start()) or described.pod_before(head.start()))
        message, logged_pod = without_values(message)
        pod = logged_pod or pod
        if head["of_set"] is not None:
            pod = f"{pod.partition('/')[0] or 'default'}/{head['set']}"
        if not pod and (refused := _REFUSED_POD.search(message)) is not None:
            pod = f"default/{refused['owner'] or refused['pod']}"
        if not pod and (named := _JSON_POD.match(text, text.find('"pod":"', head.end(), near_line_end(text, end)))) is not None:
            pod = with_namespace(named[1])
        before = text[max(at, head.start() - MAX_LINE_LENGTH) : head.start()]
        repeated = _REPEATED.search(line)
        times, span = (int(repeated["times"]), repeated["span"]) if repeated is not None else (1, "")
        pod = pod or _named_by_itself(message, before) or _named_in_prose(before) or _named_after(text, end)
        yield PodMessage(pod, message, at=when, times=times, span=span)
        at = max(end, head.end())


def _pod_and_time(before: str, described: str) -> tuple[str, str]:
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
    error = _POD_IN_ERROR.search(text, max(0, end - MAX_LINE_LENGTH), near_line_end(text, end))
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


def _messages_without_heads(text: str, start: int, stop: int, described: PodPositions) -> Iterator[PodMessage]:
    """The messages between two offsets that count no nodes: events of the scheduler with another text, and failures in its log."""
    if FAILED_SCHEDULING in text[start:stop]:
        for event in _AFTER_REASON.finditer(text, start, stop):
            rest = event["rest"]
            while (place := _COLUMN.match(rest)) is not None and place.end() < len(rest):
                rest = rest[place.end() :]
            is_cut = event.end() == stop < len(text) and text[stop] != "\n"
            if is_cut or " " not in rest.strip() or not rest.strip(" -|`*"):
                continue
            line = text[line_start(text, event.start(), MAX_LINE_LENGTH) : event.start("rest") + 300]
            pod, when = _pod_and_time(line, described.pod_before(event.start()))
            message = whole_message(text, event.end() - len(rest), event.end() - len(rest))[0]
            yield PodMessage(pod or _named_by_itself(message, ""), message, at=when)
    yield from messages_of_karpenter(text, start, stop)
    if "Error scheduling" in text[start:stop] or "PreFilter failed" in text[start:stop]:
        times = LineTimes(text)
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
