"""`other_warnings`: what a text says that is not about scheduling, or about pods without a message."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from schedviz.explain.messages.message import said_clauses
from schedviz.explain.messages.parsed_message import ParsedMessage, shown_name
from schedviz.explain.reason_tables.kubelet import KUBELET
from schedviz.kube.event_reasons import NETWORK_NOT_READY, PREEMPTED
from schedviz.kube.text_facts import PendingPod, PodWarning, TextFact
from schedviz.trace.phrase import Phrase, counted, joined, phrase, some

#: How the kubelet begins the message of an event for several, and one that follows from a failure to attach or mount a volume.
_COMBINED: Final = "(combined from similar events):"
_NOT_MOUNTED: Final = ("Unable to attach or mount volumes", "Unable to mount volumes")
#: Warnings and pods that are named.
_MAX_NAMED: Final = 5


def other_warnings(messages: Sequence[ParsedMessage], facts: Sequence[TextFact], *, over: Collection[str]) -> Phrase | None:
    """What to read after the messages; None: nothing. `over`: pods whose messages no longer apply; their answers have their warnings."""
    pods = {message.pod for message in messages}
    known = {message.text for message in messages}
    of_kubelet = [message for message in messages if message.writer == KUBELET]
    headlines = {(message.pod, clause.headline) for message in of_kubelet for clause in message.message.clauses}
    warnings = [
        fact
        for fact in facts
        if isinstance(fact, PodWarning)
        and fact.pod not in over
        and fact.message not in known
        and not _is_said(fact, [message.text for message in of_kubelet])
        and not _follows(fact, headlines)
        # What an answer says about preemption is not said twice.
        and (fact.reason != PREEMPTED or fact.pod not in pods)
    ]
    said = [*_about_warnings(warnings), *_about_pods_without_message(pods, facts)]
    return joined(said, "{first}; {next}") if said else None


def _is_said(warning: PodWarning, texts: Sequence[str]) -> bool:
    """Whether a message is that of a warning, of which one may be cut."""
    message = warning.message.lstrip(". ")
    return any(text.startswith(message) or message.startswith(text) for text in texts)


def _follows(warning: PodWarning, headlines: Collection[tuple[str, str]]) -> bool:
    """Whether a warning says what a message of the kubelet about its pod says, too, or only that volumes are not mounted."""
    pods = {pod for pod, _ in headlines}
    of_pod = warning.pod if warning.pod in pods else next(iter(pods), "") if not warning.pod and len(pods) == 1 else None
    if of_pod is None:
        return False
    text = warning.message.removeprefix(_COMBINED).lstrip()
    return text.startswith(_NOT_MOUNTED) or any((of_pod, clause.headline) in headlines for clause in said_clauses(text))


def _about_warnings(warnings: Iterable[PodWarning]) -> list[Phrase]:
    warnings = [warning for warning in warnings if warning.reason != NETWORK_NOT_READY]
    evicted = list(dict.fromkeys(shown_name(warning.pod) for warning in warnings if warning.reason == PREEMPTED))
    others = {(shown_name(warning.pod), warning.reason): warning for warning in warnings if warning.reason != PREEMPTED}
    said: list[Phrase] = []
    if evicted:
        pods = counted(len(evicted), "{count} other pod was preempted", "{count} other pods were preempted")
        said.append(phrase("{pods} by pods of higher priority: {named}", pods=pods, named=some(evicted, _MAX_NAMED)))
    if len(others) == 1:
        [((pod, reason), warning)] = others.items()
        values = {"pod": pod, "reason": reason, "message": warning.message}
        said.append(
            phrase("pod `{pod}` has another warning, {reason}: {message}", **values)
            if pod
            else phrase("there is another warning, {reason}: {message}", **values)
        )
    elif others:
        named = [f"{pod} {reason}".strip() for pod, reason in others]
        said.append(phrase("there are {count} other warnings: {named}", count=len(named), named=some(named, _MAX_NAMED)))
    return said


def _about_pods_without_message(about: Collection[str], facts: Sequence[TextFact]) -> list[Phrase]:
    """The pods that a table lists as Pending, and about which the text has no message, although it has some `about` others."""
    if not about or "" in about:
        return []
    # A table without the column NAMESPACE may be of any.
    names_of_messages = {pod.partition("/")[2] for pod in about}
    left = list(
        dict.fromkeys(
            shown_name(fact.pod)
            for fact in facts
            if isinstance(fact, PendingPod)
            and fact.pod not in about
            and not (fact.pod.startswith("default/") and fact.pod.partition("/")[2] in names_of_messages)
        )
    )
    if len(left) == 1:
        return [phrase("pod `{pod}` is pending, too, but the text contains no message about it", pod=left[0])]
    if not left:
        return []
    return [
        phrase(
            "{count} other pods are pending, too, but the text contains no message about them: {named}",
            count=len(left),
            named=some(left, _MAX_NAMED),
        )
    ]
