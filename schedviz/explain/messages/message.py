"""Parses a scheduler's message, from an event, a log or `kubectl describe`, into its clauses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol

import msgspec

from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.autoscalers.clauses import clauses_of_autoscaler
from schedviz.explain.details.pod_requests import with_requests
from schedviz.explain.explanation import Clause, NodeVerdict
from schedviz.explain.meaning import Named
from schedviz.explain.messages.combined_clauses import with_empty_domains, with_place, with_reason_of_all, without_several_volumes
from schedviz.explain.messages.conclusion import STATUS_IS_WHOLE, advised, concluded, cut_off, with_common_advice, with_missing_node
from schedviz.explain.messages.explained_clause import explained_clause, with_names
from schedviz.explain.messages.main_reason import most_likely_first
from schedviz.explain.messages.parsed_message import Message, NotAMessageError, ParsedMessage
from schedviz.explain.messages.reason_releases import releases_of
from schedviz.explain.messages.reasons import UNKNOWN, begins_reason, meaning_of
from schedviz.explain.reason_tables.queues import KUEUE, KUEUE_CONCLUSION, reasons_of_kueue
from schedviz.explain.reason_tables.whole import OLD_PREDICATES
from schedviz.kube.claims import claim_keys
from schedviz.trace.phrase import Phrase, counted, phrase
from schedviz.trace.releases import RELEASES

#: Longer texts are cut. An event's note has at most 1,024 characters; a condition's message is rarely longer.
MAX_LENGTH: Final = 20_000
#: Counts have at most nine digits, and begin where no digit precedes: otherwise a long run of digits takes quadratic time.
_HEAD: Final = re.compile(
    r"(?<!\d)(?P<fit>\d{1,9})/(?P<all>\d{1,9}|[xXnN*#?]{1,9}|<[a-zA-Z-]{1,20}>) nodes are (?:un)?available(?:: |:$|\.|$)", re.ASCII
)
#: A redacted number of nodes before a reason.
_REDACTED: Final = re.compile(
    r"(?<![\w*/])(?:[xXnN]{1,4}|[*#?]{1,4}|<[a-zA-Z-]{1,20}>) (?=Insufficient |node\(s\) |Too many pods|No preemption|Preemption is)"
)
_CLAUSE: Final = re.compile(r"(?<!\d)(?P<count>\d{1,9}) (?P<reason>.+)", re.DOTALL | re.ASCII)
#: A comma between clauses, which is followed by a count, unlike a comma inside a reason.
_BETWEEN: Final = re.compile(r", (?=\d{1,9} )", re.ASCII)
#: The end of a text that was cut: an ellipsis, or a count without its reason.
_CUT: Final = re.compile(r"(?:\.\.\.|…|(?<!\d)\d{1,9})$", re.ASCII)
#: Before 1.10: `No nodes are available that match all of the predicates: Insufficient cpu (9), MatchNodeSelector (18).`
_OLD: Final = re.compile(r"(?:match all of the (?:following )?predicates:{1,2}|fit failure summary on nodes ?:) ?(?P<reasons>.*)")
_OLD_CLAUSE: Final = re.compile(r"(?<![^(),])(?P<reason>[^(),]++)\((?P<count>\d{1,9})\)", re.ASCII)
#: Before 1.6: `fit failure on node (a): Insufficient cpu`.
_OLDEST: Final = re.compile(r"fit failure on node \([^()]*+\): (?P<reason>[^:()]*?)(?= fit failure on node|$)")
#: Reasons of kube-scheduler 1.19 and older.
_BEFORE_1_20: Final = re.compile(r"node\(s\) (?:didn't match node selector|had taints that the pod didn't tolerate)")
#: The reason of a conflict with the affinity or anti-affinity between pods, and the ones that say which rule it is.
_GENERAL_AFFINITY: Final = re.compile(r"node\(s\) didn't match pod affinity/anti-affinity")
_AFFINITY_RULE: Final = re.compile(r"node\(s\) didn't (?:match pod (?:anti-)?affinity|satisfy existing pods anti-affinity) rules")
_LOST: Final = (
    "The message gives no reason for {count} of {nodes}: the scheduler did not evaluate them. kube-scheduler "
    "1.18.0 to 1.18.6 loses nodes from its list when zones have different numbers of nodes (kubernetes issue "
    "91601). Restart kube-scheduler, then upgrade it."
)
#: Reasons of preemption, with which most messages end: a terminal's edge cuts them.
_ENDS: Final = ("No preemption victims found for incoming pod", "Preemption is not helpful for scheduling")
#: The minimum number of letters that identify such a reason.
_MIN_TELLING_LENGTH: Final = 10
#: The same if other words follow.
_MIN_COMMON_LENGTH: Final = 25
#: How the reason begins of a pod whose claim has no volume.
UNBOUND: Final = "pod has unbound immediate PersistentVolumeClaims"
_SENTENCES: Final = re.compile(r"[.,]? ?\bpreemption: |[.,] ")
#: Words of people that may follow a reason without its message.
_MAX_WORDS_AFTER: Final = 12
#: Between reasons without counts, as the cluster autoscaler's log has them.
_JOINED_REASONS: Final = re.compile(r", (?=Insufficient )")


class Found(Protocol):
    """A message that was found in a text."""

    @property
    def pod(self) -> str: ...
    @property
    def at(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def times(self) -> int: ...
    @property
    def span(self) -> str: ...


def parse_messages(found: Iterable[Found], described: Mapping[str, PodInfo] | None = None) -> list[ParsedMessage]:
    """The messages in order, but those of autoscalers after the scheduler's about the same pod.

    One that `parse_message` refuses has one clause of unknown meaning. `described`: the pods whose requests, selectors and
    tolerations are known, by `namespace/name`; the headlines of their clauses have them.
    """
    pods_of = described or {}
    messages = [ParsedMessage(each.pod, each.at, each.message, _parsed(each.message, each.pod, pods_of.get(each.pod))) for each in found]
    if not any(message.writer for message in messages):
        return messages
    pods = list(dict.fromkeys(message.pod for message in messages))
    return sorted(messages, key=lambda message: (pods.index(message.pod), message.writer != ""))


def _parsed(text: str, name: str, pod: PodInfo | None) -> Message:
    try:
        return _with_pod(parse_message(text), name, pod)
    except NotAMessageError:
        return Message(0, (explained_clause(0, " ".join(text[:MAX_LENGTH].split()), otherwise=UNKNOWN),))


def _with_pod(message: Message, name: str, pod: PodInfo | None) -> Message:
    """The message with what its pod asks for, and with its names in commands."""
    named = Named(pod=name, claims=claim_keys(pod.pod) if pod is not None else ())
    clauses = tuple(with_names(clause, named) for clause in message.clauses)
    if pod is not None:
        clauses = with_requests(clauses, pod)
        if len(named.claims) == 1:
            clauses = tuple(without_several_volumes(_naming_claim(clause, named.claims[0])) for clause in clauses)
    if message.finding_phrase == STATUS_IS_WHOLE:
        selector = ",".join(f"{key}={value}" for key, value in pod.pod.spec.node_selector.items()) if pod is not None else ""
        return cut_off(message, tuple(advised(clause, None) for clause in clauses), name, selector)
    return with_clauses(message, clauses)


def _naming_claim(clause: Clause, claim: str) -> Clause:
    """The clause with the name of the pod's only claim (`namespace/name`), if it is about a claim without a volume."""
    if not clause.reason.startswith(UNBOUND):
        return clause
    said = phrase("the claim `{claim}` is not bound", claim=claim.partition("/")[2].replace("`", "'"))
    return clause.with_phrases(headline=said)


def with_clauses(message: Message, clauses: tuple[Clause, ...]) -> Message:
    """The message with other clauses, and what they say together."""
    if message.finding_phrase == STATUS_IS_WHOLE:
        return msgspec.structs.replace(message, clauses=clauses)
    return concluded(message, clauses) if message.conclusion and message.nodes else msgspec.structs.replace(message, clauses=clauses)


def parse_message(text: str) -> Message:
    """The clauses of `0/5 nodes are available: 3 Insufficient cpu, 2 node(s) were unschedulable. preemption: …`, or of another message.

    Text before it is skipped. Raises `NotAMessageError`.
    """
    text = " ".join(text[:MAX_LENGTH].split())
    head = _HEAD.search(text)
    if head is not None:
        rest = text[head.end() :]
        if not head["all"].isdigit():
            return _message_of_redacted(rest)
        return _with_wording(_fit_error(int(head["all"]), rest), _releases_of_notes(rest))
    old = tuple(_old_clauses(text))
    if old:
        return Message(0, old)
    if of_autoscaler := clauses_of_autoscaler(text):
        return Message(0, of_autoscaler)
    if of_kueue := reasons_of_kueue(text):
        return _message_of_kueue(of_kueue)
    return _with_wording(_without_counts(text))


def _message_of_kueue(reasons: Sequence[str]) -> Message:
    """A message about a workload: the reasons of its flavors, after those that only ask to wait."""
    clauses = [explained_clause(0, reason, plugin=KUEUE, otherwise=UNKNOWN) for reason in reasons]
    clauses.sort(key=lambda clause: not clause.reason.startswith("Pending "))
    return Message(0, tuple(clauses)).with_phrases(conclusion=KUEUE_CONCLUSION)


def _message_of_redacted(rest: str) -> Message:
    """A message without the number of nodes, and perhaps without those of its reasons: 0 stands for a number that is not known."""
    said, _, preempting = _REDACTED.sub("0 ", rest).partition("preemption: ")
    clauses = tuple(most_likely_first(_clauses(said.strip(" .")), 0))
    message = Message(0, preemption=_preemption(preempting)).with_phrases(finding=_NUMBER_REDACTED)
    return concluded(message, clauses)


_NUMBER_REDACTED: Final = phrase("The number of nodes is redacted, so the message does not show whether it gives a reason for every node.")


def _releases_of_notes(text: str) -> list[tuple[str, ...]]:
    """The simulated releases of each note of a plugin, which is no clause."""
    meanings = ((sentence, meaning_of(sentence)) for sentence in _SENTENCES.split(text))
    return [releases_of(sentence) for sentence, meaning in meanings if meaning is not None and meaning.is_note]


def _with_wording(message: Message, of_notes: Sequence[tuple[str, ...]] = ()) -> Message:
    """The message with what its wording shows about the release of its scheduler. `of_notes`: the releases of plugins' notes."""
    known = [clause.releases for clause in (*message.clauses, *message.preemption) if clause.plugin or clause.releases] + [*of_notes]
    of_one = {releases[0] for releases in known if len(releases) == 1}
    wording: Phrase | None = None
    if len(of_one) > 1:
        wording = phrase("The wording is that of a kube-scheduler between {releases}.", releases=" and ".join(sorted(of_one)))
    elif of_one:
        [release] = of_one
        wording = phrase(
            "The wording is that of kube-scheduler {release}, not of {other}.",
            release=release,
            other=next(each for each in RELEASES if each != release),
        )
    elif any(not releases for releases in known):
        wording = phrase("The wording is that of a kube-scheduler before {oldest}.", oldest=RELEASES[0])
    return message if wording is None else message.with_phrases(wording=wording)


def _fit_error(nodes: int, rest: str) -> Message:
    said, _, preempting = rest.partition("preemption: ")
    # Before 1.34, a claim's reason ended with the text of another error.
    said = said.replace(f"{UNBOUND}. not found", UNBOUND)
    sentences = [part.strip(" ,") for part in said.strip().rstrip(".").split(". ") if part.strip(" ,.")]
    listed = [sentence for sentence in sentences if _CLAUSE.match(sentence)]
    others = [sentence for sentence in sentences if sentence not in listed and not sentence.isdigit()]
    counting = _without_general_affinity([clause for sentence in listed for clause in _clauses(sentence)])
    is_cut = not preempting and _CUT.search(said.strip()) is not None
    fragment: Clause | None = None
    if not preempting and len(counting) > 1 and not said.strip().endswith(".") and begins_reason(counting[-1].reason):
        fragment = counting[-1]
    if fragment is not None or (is_cut and len(counting) > 1 and meaning_of(counting[-1].reason) is None):
        # The beginning of a reason is none.
        counting = counting[:-1]
    meanings = {sentence: meaning_of(sentence) for sentence in others}
    # A plugin's note, such as "no new claims to deallocate", is no reason.
    known = tuple(
        explained_clause(nodes, sentence) for sentence, meaning in meanings.items() if meaning is not None and not meaning.is_note
    )
    unaccounted = nodes - sum(clause.count for clause in counting) if counting or not others else 0
    finding = _finding(nodes, unaccounted, said.strip() if not preempting else "")
    if fragment is not None:
        finding = _finding_about_fragment(fragment)
    clauses = with_reason_of_all(nodes, most_likely_first((*counting, *known), nodes))
    clauses = with_empty_domains(with_place(with_common_advice(with_missing_node(nodes, clauses))))
    if is_cut and unaccounted * 2 > nodes and counting:
        # What most nodes lack is not known.
        clauses = tuple(advised(clause, None) for clause in clauses)
        finding = STATUS_IS_WHOLE
    message = Message(
        nodes,
        pre_filter=". ".join(sentence for sentence in others if meaning_of(sentence) is None),
        preemption=_preemption(preempting),
        unaccounted=unaccounted,
        loses_nodes=finding is not None and finding.template == _LOST,
    ).with_phrases(finding=finding)
    return concluded(message, clauses)


def _without_general_affinity(clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    """The clauses. Before 1.20, a node whose pods conflict has a general reason beside the one that says which rule: the latter stays."""
    exact = sum(clause.count for clause in clauses if _AFFINITY_RULE.fullmatch(clause.reason))
    return tuple(clause for clause in clauses if not (_GENERAL_AFFINITY.fullmatch(clause.reason) and clause.count == exact))


def _preemption(text: str) -> tuple[Clause, ...]:
    """The clauses of `0/5 nodes are available: …`, or the one reason why preemption was not tried."""
    text = text.strip().rstrip(".")
    head = _HEAD.search(text)
    if head is not None:
        return tuple(map(_after_evictions, _clauses(text[head.end() :].strip())))
    return (explained_clause(0, text, otherwise=UNKNOWN),) if text else ()


def _after_evictions(clause: Clause) -> Clause:
    """A reason for which nodes do not fit even without the pods that preemption may evict."""
    if clause.plugin == names.DEFAULT_PREEMPTION or clause.headline_phrase is None:
        return clause
    meaning = phrase("even after evicting lower-priority pods, {reason}", reason=clause.headline_phrase)
    return clause.with_phrases(headline=meaning, meaning=meaning)


def _finding(nodes: int, unaccounted: int, end: str) -> Phrase | None:
    """Why the clauses count fewer nodes than the message; None if they do not. `end`: the end of the text, if it may have been cut."""
    if unaccounted <= 0:
        return None
    how_many = counted(unaccounted, "{count} node", "{count} nodes")
    if _CUT.search(end) or unaccounted == nodes:
        return phrase("The text is truncated: the reasons for {count} of {nodes} are missing.", count=how_many, nodes=nodes)
    if _BEFORE_1_20.search(end):
        return phrase(_LOST, count=how_many, nodes=nodes)
    return phrase(
        (
            "The message does not mention {count} of {nodes}. That is normal for a pod that is limited to certain nodes, "
            "such as a DaemonSet pod or a pod with a local volume; otherwise, those nodes are missing from the scheduler's "
            "list."
        ),
        count=how_many,
        nodes=nodes,
    )


def _finding_about_fragment(clause: Clause) -> Phrase:
    """That the text ends within a reason, of which the clause has the beginning."""
    return phrase(
        'The message is cut off after "{end}". For a complete answer, paste the whole message.', end=f"{clause.count} {clause.reason}"
    )


def _old_clauses(text: str) -> Iterator[Clause]:
    """The clauses of a message before 1.10. It does not say how many nodes there are."""
    old = _OLD.search(text)
    if old is not None:
        for match in _OLD_CLAUSE.finditer(old["reasons"]):
            reason = match["reason"].strip(" ,.")
            yield explained_clause(int(match["count"]), OLD_PREDICATES.get(reason, reason), otherwise=UNKNOWN)
        return
    counts: dict[str, int] = {}
    for match in _OLDEST.finditer(text):
        reason = OLD_PREDICATES.get(match["reason"].strip(), match["reason"].strip())
        counts[reason] = counts.get(reason, 0) + 1
    for reason, count in counts.items():
        yield explained_clause(count, reason, otherwise=UNKNOWN)


def _without_counts(text: str) -> Message:
    """A message that counts no nodes, or clauses without their head. Raises `NotAMessageError`."""
    text = text.strip(" .`*")
    if text[:1] in ("'", '"'):
        text = text.strip(text[0])
    reasons = _JOINED_REASONS.split(text)
    if len(reasons) > 1 and all(meaning_of(reason) is not None for reason in reasons):
        return Message(0, tuple(explained_clause(0, reason) for reason in reasons))
    if meaning_of(text) is not None:
        return Message(0, (explained_clause(0, text),))
    clauses = _clauses(text) if _CLAUSE.match(text) else ()
    if clauses and meaning_of(clauses[-1].reason) is None:
        clauses = (*clauses[:-1], _without_trailing_words(clauses[-1]))
    if not clauses or any(meaning_of(clause.reason) is None for clause in clauses):
        raise NotAMessageError('Expected a text with "0/N nodes are available: …", as in the events of a Pending pod; found none.')
    return Message(0, clauses)


def _without_trailing_words(clause: Clause) -> Clause:
    """The clause whose reason ends where one of a scheduler does: words of people may follow."""
    words = clause.reason.split(" ")
    shorter = (" ".join(words[:-left]) for left in range(1, min(_MAX_WORDS_AFTER, len(words) - 1) + 1))
    known = next((reason for reason in shorter if meaning_of(reason.rstrip(".:;")) is not None), None)
    return clause if known is None else explained_clause(clause.count, known.rstrip(".:;"))


def said_clauses(message: str) -> tuple[Clause, ...]:
    """The clauses of a scheduler's message; empty for another text."""
    try:
        return parse_message(message).clauses
    except NotAMessageError:
        return ()


def _clauses(sentence: str) -> tuple[Clause, ...]:
    matches = (_CLAUSE.fullmatch(part) for part in _BETWEEN.split(sentence))
    return tuple(
        explained_clause(int(match["count"]), OLD_PREDICATES.get(reason := _whole(match["reason"].strip()), reason), otherwise=UNKNOWN)
        for match in matches
        if match is not None
    )


def _whole(reason: str) -> str:
    """The reason; that of preemption of which a cut text has only the beginning, or one with a word that a terminal broke."""
    if len(reason) < _MIN_TELLING_LENGTH or meaning_of(reason) is not None:
        return reason
    if whole := next((whole for whole in _ENDS if reason.startswith(whole[:_MIN_COMMON_LENGTH])), ""):
        # What follows is of another column or line of the terminal.
        return whole
    joined_ = (reason[:at] + reason[at + 1 :] for at, letter in enumerate(reason) if letter == " ")
    unbroken = next((text for text in joined_ if meaning_of(text) is not None), reason)
    return next((whole for whole in _ENDS if whole.startswith(unbroken)), unbroken)


def with_nodes(clauses: Sequence[Clause], verdicts: Sequence[NodeVerdict]) -> tuple[Clause, ...]:
    """The clauses of a text, with the nodes to which each applies now. Their number may have changed."""
    nodes: dict[str, list[str]] = {}
    for verdict in verdicts:
        for reason in verdict.reasons:
            nodes.setdefault(reason, []).append(verdict.node)
    return tuple(_with_nodes(clause, tuple(nodes.get(clause.reason, ()))) for clause in clauses)


def _with_nodes(clause: Clause, nodes: tuple[str, ...]) -> Clause:
    return msgspec.structs.replace(with_names(clause, Named(nodes)), nodes=nodes)
