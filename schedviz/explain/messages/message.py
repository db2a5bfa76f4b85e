"""Parses a scheduler's message, from an event, a log or `kubectl describe`, into its clauses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol

import msgspec

from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.autoscalers.clauses import clauses_of_autoscaler
from schedviz.explain.details.pod_requests import with_requests
from schedviz.explain.explanation import Clause, NodeVerdict, Part
from schedviz.explain.meaning import Named
from schedviz.explain.messages.combined_clauses import (
    OF_TAINTS,
    is_of_several_taints,
    listed_taints,
    names_taint,
    of_all_nodes,
    with_empty_domains,
    with_grouped_taints,
    with_place,
    without_control_plane,
    without_several_volumes,
)
from schedviz.explain.messages.explained_clause import explained_clause, of_missing_node, with_names
from schedviz.explain.messages.main_reason import decisive_clause, is_of_control_plane, is_of_volume, most_likely_first, only_cause
from schedviz.explain.messages.reason_releases import releases_of
from schedviz.explain.messages.reasons import UNKNOWN, meaning_of
from schedviz.explain.no_node import no_node_sentence
from schedviz.explain.reason_tables.autoscalers import CLUSTER_AUTOSCALER, KARPENTER
from schedviz.explain.reason_tables.creation import API_SERVER
from schedviz.explain.reason_tables.nodes import OF_UNTOLERATED_TAINT
from schedviz.explain.reason_tables.queues import GROUP_SCHEDULERS, KUEUE, KUEUE_CONCLUSION, reasons_of_kueue
from schedviz.explain.reason_tables.volumes import CLAIM_EVENTS
from schedviz.explain.reason_tables.whole import DESCRIPTION, OLD_PREDICATES, POD_OBJECT, SCHEDULER_LOG, TABLE_OF_PODS
from schedviz.kube.claims import claim_keys
from schedviz.trace.phrase import Phrase, counted, joined, phrase
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

_LOST: Final = (
    "The message gives no reason for {count} of {nodes}: the scheduler did not evaluate them. kube-scheduler "
    "1.18.0 to 1.18.6 loses nodes from its list when zones have different numbers of nodes (kubernetes issue "
    "91601). Restart kube-scheduler, then upgrade it."
)


#: A conclusion is shown if there are at least `_SEVERAL` reasons, and lists `_IN_CONCLUSION` of them.
_SEVERAL: Final = 2
_IN_CONCLUSION: Final = 5
#: So many taints are one reason in a conclusion.
_MANY_TAINTS: Final = 3
#: Reasons of preemption, with which most messages end: a terminal's edge cuts them.
_ENDS: Final = ("No preemption victims found for incoming pod", "Preemption is not helpful for scheduling")
#: The minimum number of letters that identify such a reason.
_MIN_TELLING_LENGTH: Final = 10
#: The same if other words follow.
_MIN_COMMON_LENGTH: Final = 25


#: How the reason begins of a pod whose claim has no volume.
_UNBOUND: Final = "pod has unbound immediate PersistentVolumeClaims"
#: What says that a claim has no volume.
PROVISIONER: Final = CLAIM_EVENTS
#: What shows that a claim has no volume, in a text without its events.
STORAGE_TEXT: Final = "the text"
_WRITERS: Final = frozenset(
    {
        CLUSTER_AUTOSCALER,
        KARPENTER,
        API_SERVER,
        DESCRIPTION,
        POD_OBJECT,
        TABLE_OF_PODS,
        SCHEDULER_LOG,
        PROVISIONER,
        STORAGE_TEXT,
        KUEUE,
        *GROUP_SCHEDULERS,
    }
)
#: In the reasons of nodes that the node lifecycle controller has found not ready.
_NOT_READY: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "were not ready")


#: The reason of nodes that the pod's node affinity does not name.
_NOT_NAMED: Final = re.compile(r"node\(s\) didn't satisfy plugin(?:\(s\))? (?:NodeAffinity|\[NodeAffinity\])")
_SENTENCES: Final = re.compile(r"[.,]? ?\bpreemption: |[.,] ")
#: Reasons that are joined without counts, as the cluster autoscaler's log has them.
#: Words of people that may follow a reason without its message.
_MAX_WORDS_AFTER: Final = 12
#: What is found of a text that lacks the reasons of most nodes.
_STATUS_IS_WHOLE: Final = phrase("An event has at most 1,024 characters; the pod's status has the whole message.")
_WHOLE_MESSAGE: Final = "read the whole message: `kubectl get pod{pod} -o json | grep 'nodes are available'`"
_JOINED_REASONS: Final = re.compile(r", (?=Insufficient )")


class NotAMessageError(ValueError):
    """The text is no message of a scheduler."""


class Message(Part, frozen=True):
    """The contents of a message."""

    #: 0: it counts no nodes.
    nodes: int
    #: The one to act on first leads.
    clauses: tuple[Clause, ...] = ()
    #: Sentences that count no nodes, and whose meaning is not known.
    pre_filter: str = ""
    #: Preemption's findings, in the same form.
    preemption: tuple[Clause, ...] = ()
    #: The reasons in one sentence, without those of the control plane; "" for fewer than two.
    conclusion: str = ""
    conclusion_phrase: Phrase | None = None
    #: What to try first, without a full stop; "" if the reasons leave several possibilities, or are fewer than two.
    first: str = ""
    first_phrase: Phrase | None = None
    #: Nodes without a clause: not evaluated, or the text was cut. Negative: nodes with several reasons.
    unaccounted: int = 0
    #: What the counts themselves say; "" if nothing.
    finding: str = ""
    finding_phrase: Phrase | None = None
    #: Which of the simulated releases words it so, if that tells anything; "" otherwise.
    wording: str = ""
    wording_phrase: Phrase | None = None
    #: Whether it leaves nodes out although its scheduler evaluates every node: the defect of kubernetes issue 91601.
    loses_nodes: bool = False

    @property
    def preemption_to_read(self) -> tuple[Clause, ...]:
        """Preemption's findings, unless they only say that evictions on some nodes would not help: then the reasons say what to do."""
        is_usual = all(clause.count and clause.headline for clause in self.preemption)
        return () if is_usual and self.clauses else self.preemption


class ParsedMessage(Part, frozen=True):
    """A message in a longer text, and its clauses."""

    #: `namespace/name`; "": the text does not name it.
    pod: str
    #: When it was sent, as the text has it ("5m ago"); "": unknown.
    at: str
    text: str
    message: Message

    @property
    def writer(self) -> str:
        """What wrote it: `cluster-autoscaler`, `karpenter`, `kube-apiserver`, `kubectl describe`; "": a scheduler did."""
        return writer_of(self.message.clauses[0]) if self.message.clauses else ""


def whole_headline(message: Message) -> str:
    """The headline of the reason that all nodes outside the control plane share; "" if they have several."""
    others, left = without_control_plane(message.nodes, message.clauses)
    return others[0].headline if len(others) == 1 and others[0].count == left > 0 else ""


def writer_of(clause: Clause) -> str:
    """What gave a reason, as `ParsedMessage.writer`."""
    return clause.plugin if clause.plugin in _WRITERS else ""


def shown_name(key: str) -> str:
    """`namespace/name` as kubectl prints it: without `default`, which is also that of a text which names no namespace."""
    return key.removeprefix("default/")


def without_advice(said: ParsedMessage) -> ParsedMessage:
    """The message without what to try first."""
    return msgspec.structs.replace(said, message=msgspec.structs.replace(said.message, first="", first_phrase=None))


def without_advice_of(said: ParsedMessage, refusal: str) -> ParsedMessage:
    """The message without what to try first, and without what to do about reasons that an autoscaler's `refusal` has, too.

    A node that the autoscaler does not add is no advice either.
    """
    has_reason = any(clause.reason in refusal for clause in said.message.clauses)
    clauses = tuple(
        msgspec.structs.replace(clause, advice="", advice_phrase=None, causes=())
        if clause.reason in refusal or (has_reason and clause.plugin == names.NODE_RESOURCES_FIT)
        else clause
        for clause in said.message.clauses
    )
    return without_advice(msgspec.structs.replace(said, message=msgspec.structs.replace(said.message, clauses=clauses)))


def without_any_advice(said: ParsedMessage) -> ParsedMessage:
    """The message whose clauses say neither causes nor what to do."""
    clauses = tuple(msgspec.structs.replace(clause, advice="", advice_phrase=None, causes=()) for clause in said.message.clauses)
    return msgspec.structs.replace(said, message=msgspec.structs.replace(said.message, clauses=clauses))


def led_by(said: ParsedMessage, reason: str) -> ParsedMessage:
    """The message whose first clause is the one with this reason, which needs no advice: it was given before."""
    leading = [_advised(clause, None) for clause in said.message.clauses if clause.reason == reason]
    others = [clause for clause in said.message.clauses if clause.reason != reason]
    return msgspec.structs.replace(said, message=msgspec.structs.replace(said.message, clauses=(*leading, *others)))


def without_advice_about_volumes(said: ParsedMessage) -> ParsedMessage:
    """The message without what to try first, and whose clauses about volumes say neither causes nor what to do."""
    clauses = tuple(
        _advised(clause, None) if clause.plugin in (names.VOLUME_BINDING, names.VOLUME_ZONE) else clause for clause in said.message.clauses
    )
    return without_advice(msgspec.structs.replace(said, message=msgspec.structs.replace(said.message, clauses=clauses)))


def without_repeats(said: ParsedMessage, *, without_claims: bool = False) -> ParsedMessage:
    """The message whose clauses do not repeat what it says to try first, nor the causes and the advice of a clause before them.

    `without_claims`: nor what to do about claims without a volume, which was said.
    """
    known = {said.message.first}
    clauses = []
    for clause in _with_devices_as_one(said.message.clauses, said.message.first):
        repeats = clause.advice in known or (without_claims and clause.reason.startswith(_UNBOUND))
        known.add(clause.advice)
        clauses.append(msgspec.structs.replace(clause, advice="", advice_phrase=None, causes=()) if repeats else clause)
    return msgspec.structs.replace(said, message=msgspec.structs.replace(said.message, clauses=tuple(clauses)))


def _with_devices_as_one(clauses: Sequence[Clause], first: str) -> list[Clause]:
    """The clauses, of which those about several devices say once what to do, with the first. `first`: what to try first."""
    alike: dict[str, list[Clause]] = {}
    for clause in clauses:
        if clause.advice_phrase is not None and clause.advice != first and "/" in str(clause.advice_phrase.values.get("resource", "")):
            alike.setdefault(clause.advice_phrase.template, []).append(clause)
    advice: dict[int, Phrase | None] = {}
    for template, of_devices in alike.items():
        values = [clause.advice_phrase.values for clause in of_devices if clause.advice_phrase is not None]
        if len(values) > 1:
            # The template has them between backticks.
            resources = joined([Phrase("{name}", {"name": each["resource"]}) for each in values], "{first}` and `{next}")
            advice |= {id(clause): None for clause in of_devices}
            advice[id(of_devices[0])] = Phrase(template, {**values[0], "resource": resources})
    return [_advised(clause, advice[id(clause)]) if id(clause) in advice else clause for clause in clauses]


def with_taints_as_one(said: ParsedMessage) -> ParsedMessage:
    """The message with one clause for many taints that the pod does not tolerate, or for those of one key."""
    clauses = with_grouped_taints(said.message.clauses)
    if len(clauses) == len(said.message.clauses):
        return said
    message = with_clauses(said.message, clauses)
    # What to try first was decided by the clauses as they were.
    return msgspec.structs.replace(
        said, message=msgspec.structs.replace(message, first=said.message.first, first_phrase=said.message.first_phrase)
    )


def with_place_of_earlier(said: ParsedMessage, earlier: Sequence[ParsedMessage]) -> ParsedMessage:
    """The message whose advice to add a node respects what older messages say about the pod's volume and its node selector."""
    clauses = with_place(said.message.clauses, [clause for each in earlier for clause in each.message.clauses])
    if clauses == said.message.clauses:
        return said
    return msgspec.structs.replace(said, message=with_clauses(said.message, clauses))


def with_broken_nodes(said: ParsedMessage, nodes: Sequence[str]) -> ParsedMessage:
    """The message with the names of the nodes that are not ready, if they are as many as it counts."""
    clauses = tuple(
        with_names(clause, Named(nodes, said.pod))
        if clause.count == len(nodes) and any(part in clause.reason for part in _NOT_READY)
        else clause
        for clause in said.message.clauses
    )
    if clauses == said.message.clauses:
        return said
    return msgspec.structs.replace(said, message=with_clauses(said.message, clauses))


def with_volumes(said: ParsedMessage, volumes: Sequence[str], claims: Sequence[str] = ()) -> ParsedMessage:
    """The message with the names of the pod's volumes in its commands."""
    named = Named(pod=said.pod, claims=claims, volumes=volumes)
    clauses = tuple(with_names(clause, named) if is_of_volume(clause) else clause for clause in said.message.clauses)
    if volumes and all(volume.startswith(_LOCAL) for volume in volumes) and any(map(is_of_volume, clauses)):
        clauses = _of_local_volume(clauses, named)
    if clauses == said.message.clauses:
        return said
    return msgspec.structs.replace(said, message=with_clauses(said.message, clauses))


def _of_local_volume(clauses: Sequence[Clause], named: Named) -> tuple[Clause, ...]:
    """The clauses about a pod whose volume is local: no other node helps than the one that holds it."""
    lacking = [clause for clause in clauses if clause.plugin == names.NODE_RESOURCES_FIT]
    advice = Phrase((_ON_FULL_NODE if lacking else _ON_ITS_NODE).template, {"volumes": named.values["volumes"]})
    return tuple(
        msgspec.structs.replace(_advised(clause, advice), causes=() if is_of_volume(clause) else clause.causes)
        if is_of_volume(clause) or clause in lacking
        else clause
        for clause in clauses
    )


#: How the names of volumes begin that the local static provisioner makes.
_LOCAL: Final = "local-pv-"
_ON_FULL_NODE: Final = phrase(
    "the volume is local, so the pod can run only on the node that holds it: `kubectl describe pv{volumes}` names the node under "
    "`Node Affinity`. Free up resources there, or lower the pod's requests"
)
_ON_ITS_NODE: Final = phrase(
    "the volume is local, so the pod can run only on the node that holds it: `kubectl describe pv{volumes}` names the node under "
    "`Node Affinity`. Check why that node does not accept the pod"
)


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


def newest_first(messages: Iterable[ParsedMessage], age: Callable[[str], float]) -> list[ParsedMessage]:
    """The messages by pod, in the order of the text; of each pod those of the scheduler, then those of autoscalers, the newest first.

    `age` tells the seconds since a message was sent from its `at`. Messages without an age keep their order.
    """
    messages = list(messages)
    pods = list(dict.fromkeys(message.pod for message in messages))
    return sorted(messages, key=lambda message: (pods.index(message.pod), message.writer, age(message.at)))


def newest_of_each_source(messages: Sequence[ParsedMessage], age: Callable[[str], float]) -> list[ParsedMessage]:
    """Of the messages about the first one's pod, the newest of the scheduler, then that of each autoscaler. `age` as in `newest_first`.

    Without ages, a scheduler's first is taken: nothing says which is newer.
    """
    newest: dict[str, ParsedMessage] = {}
    for message in newest_first(messages, age):
        if message.pod == messages[0].pod:
            newest.setdefault(message.writer, message)
    return list(newest.values())


def one_full_stop(message: str) -> str:
    """A message to show. kube-scheduler 1.27 ends with two full stops: preemption's part has its own."""
    return message[:-1] if message.endswith("..") and not message.endswith("...") else message


def preemption_differs(message: str, said: str) -> bool:
    """Whether two messages differ in what preemption says, which both of them have."""
    of_both = [text.partition("preemption: ")[2].strip(" .") for text in (message, said)]
    return all(of_both) and of_both[0] != of_both[1]


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
    if message.finding_phrase == _STATUS_IS_WHOLE:
        selector = ",".join(f"{key}={value}" for key, value in pod.pod.spec.node_selector.items()) if pod is not None else ""
        return _cut_off(message, tuple(_advised(clause, None) for clause in clauses), name, selector)
    return with_clauses(message, clauses)


def _naming_claim(clause: Clause, claim: str) -> Clause:
    """The clause with the name of the pod's only claim (`namespace/name`), if it is about a claim without a volume."""
    if not clause.reason.startswith(_UNBOUND):
        return clause
    said = phrase("the claim `{claim}` is not bound", claim=claim.partition("/")[2].replace("`", "'"))
    return msgspec.structs.replace(clause, headline=said.text, headline_phrase=said)


def with_clauses(message: Message, clauses: tuple[Clause, ...]) -> Message:
    """The message with other clauses, and what they say together."""
    if message.finding_phrase == _STATUS_IS_WHOLE:
        return msgspec.structs.replace(message, clauses=clauses)
    return _concluded(message, clauses) if message.conclusion and message.nodes else msgspec.structs.replace(message, clauses=clauses)


def parse_message(text: str) -> Message:
    """The clauses of `0/5 nodes are available: 3 Insufficient cpu, 2 node(s) were unschedulable. preemption: …`, or of another message.

    Text before it is skipped. Raises `NotAMessageError`.
    """
    text = " ".join(text[:MAX_LENGTH].split())
    head = _HEAD.search(text)
    if head is not None:
        rest = text[head.end() :]
        if not head["all"].isdigit():
            return _of_redacted(rest)
        return _with_wording(_fit_error(int(head["all"]), rest), _releases_of_notes(rest))
    old = tuple(_old_clauses(text))
    if old:
        return Message(0, old)
    if of_autoscaler := clauses_of_autoscaler(text):
        return Message(0, of_autoscaler)
    if of_kueue := reasons_of_kueue(text):
        return _of_kueue(of_kueue)
    return _with_wording(_without_counts(text))


def _of_kueue(reasons: Sequence[str]) -> Message:
    """A message about a workload: the reasons of its flavors, after those that only ask to wait."""
    clauses = [explained_clause(0, reason, plugin=KUEUE, otherwise=UNKNOWN) for reason in reasons]
    clauses.sort(key=lambda clause: not clause.reason.startswith("Pending "))
    return Message(0, tuple(clauses), conclusion=KUEUE_CONCLUSION.text, conclusion_phrase=KUEUE_CONCLUSION)


def _of_redacted(rest: str) -> Message:
    """A message without the number of nodes, and perhaps without those of its reasons: 0 stands for a number that is not known."""
    said, _, preempting = _REDACTED.sub("0 ", rest).partition("preemption: ")
    clauses = tuple(most_likely_first(_clauses(said.strip(" .")), 0))
    message = Message(0, preemption=_preemption(preempting), finding=_NUMBER_REDACTED.text, finding_phrase=_NUMBER_REDACTED)
    return _concluded(message, clauses)


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
    return message if wording is None else msgspec.structs.replace(message, wording=wording.text, wording_phrase=wording)


#: A headline with a relative clause, as one of a list: the commas of both would collide.
_IN_LIST: Final = dict(
    zip(
        OF_UNTOLERATED_TAINT,
        (phrase("{nodes} has the untolerated taint `{taint}`").template, phrase("{nodes} have the untolerated taint `{taint}`").template),
        strict=True,
    )
)
#: What is said about a resource of which no node has enough, and between two of those.
_ENOUGH_FREE: Final = "{nodes} has enough free {resource}"
_OR: Final = phrase("{first} or {next}").template
_NONE_FREE: Final = phrase("none has enough free {resource}").template
#: The subject of a reason that all nodes have.
_EVERY: Final = (phrase("none"), phrase("all"))
#: What to do about a pod whose spec names its node.
_OF_PINNED: Final = phrase("resolve what rejects that node, or remove `spec.nodeName` from the pod")


def _fit_error(nodes: int, rest: str) -> Message:
    said, _, preempting = rest.partition("preemption: ")
    # Before 1.34, a claim's reason ended with the text of another error.
    said = said.replace(f"{_UNBOUND}. not found", _UNBOUND)
    sentences = [part.strip(" ,") for part in said.strip().rstrip(".").split(". ") if part.strip(" ,.")]
    listed = [sentence for sentence in sentences if _CLAUSE.match(sentence)]
    others = [sentence for sentence in sentences if sentence not in listed and not sentence.isdigit()]
    counting = tuple(clause for sentence in listed for clause in _clauses(sentence))
    is_cut = not preempting and _CUT.search(said.strip()) is not None
    if is_cut and len(counting) > 1 and meaning_of(counting[-1].reason) is None:
        # The beginning of a reason is none.
        counting = counting[:-1]
    meanings = {sentence: meaning_of(sentence) for sentence in others}
    # A plugin's note, such as "no new claims to deallocate", is no reason.
    known = tuple(
        explained_clause(nodes, sentence) for sentence, meaning in meanings.items() if meaning is not None and not meaning.is_note
    )
    unaccounted = nodes - sum(clause.count for clause in counting) if counting or not others else 0
    finding = _finding(nodes, unaccounted, said.strip() if not preempting else "")
    clauses = of_all_nodes(nodes, most_likely_first((*counting, *known), nodes))
    clauses = with_empty_domains(with_place(_with_common_advice(_of_no_node(nodes, clauses))))
    if is_cut and unaccounted * 2 > nodes and counting:
        # What most nodes lack is not known.
        clauses = tuple(_advised(clause, None) for clause in clauses)
        finding = _STATUS_IS_WHOLE
    message = Message(
        nodes,
        pre_filter=". ".join(sentence for sentence in others if meaning_of(sentence) is None),
        preemption=_preemption(preempting),
        unaccounted=unaccounted,
        finding=finding.text if finding is not None else "",
        finding_phrase=finding,
        loses_nodes=finding is not None and finding.template == _LOST,
    )
    return _concluded(message, clauses)


def _of_no_node(nodes: int, clauses: Sequence[Clause]) -> Sequence[Clause]:
    """The clauses, of which one that all nodes have says that the node does not exist which the pod's node affinity names."""
    if len(clauses) != 1 or clauses[0].count != nodes or not _NOT_NAMED.match(clauses[0].reason):
        return clauses
    return (of_missing_node(clauses[0]),)


def _with_common_advice(clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    """The clauses, of which many about taints say once what to do, with the first."""
    taints = [clause for clause in clauses if names_taint(clause)]
    if len(taints) < _MANY_TAINTS:
        return tuple(clauses)
    advice = {id(clause): None for clause in taints} | {id(taints[0]): OF_TAINTS}
    return tuple(_advised(clause, advice[id(clause)]) if id(clause) in advice else clause for clause in clauses)


def _advised(clause: Clause, advice: Phrase | None) -> Clause:
    if advice is None:
        return msgspec.structs.replace(clause, advice="", advice_phrase=None, causes=())
    return msgspec.structs.replace(clause, advice=advice.text, advice_phrase=advice)


def _conclusion(nodes: int, clauses: Sequence[Clause]) -> Phrase | None:
    """The reasons of the nodes that are meant to run pods."""
    if nodes and len(clauses) >= _SEVERAL and _is_pinned_by_name(clauses):
        return phrase(
            "The pod is pinned to one node (`spec.nodeName`), so only what rejects that node matters. Of the {count} nodes, {reasons}.",
            count=nodes,
            reasons=_listed(_brief(clauses, nodes)),
        )
    others, left = without_control_plane(nodes, clauses)
    reasons = [clause.headline_phrase for clause in others if clause.headline_phrase is not None]
    if len(clauses) < _SEVERAL or len(reasons) < len(others) or not reasons:
        return None
    if len(others) == 1 and others[0].count == left:
        # The clause itself says so.
        return None
    if not nodes:
        return phrase("{reasons}.", reasons=_listed(reasons))
    whole = no_node_sentence(nodes)
    if (decisive := _of_decisive(clauses, nodes)) is not None:
        return phrase("{whole}: {reasons}.", whole=whole, reasons=decisive)
    return phrase("{whole}: {reasons}.", whole=whole, reasons=_listed(_brief(clauses, nodes)))


def _is_pinned_by_name(clauses: Sequence[Clause]) -> bool:
    """Whether some nodes are not the one that the pod's spec names."""
    return any(clause.plugin == names.NODE_NAME and clause.count for clause in clauses)


def _of_decisive(clauses: Sequence[Clause], nodes: int) -> Phrase | None:
    """The reasons, that of the nodes first which the pod selects and tolerates; None if no such reason is alone."""
    decisive = decisive_clause(clauses, nodes)
    meaning = meaning_of(decisive.reason) if decisive is not None else None
    if decisive is None or meaning is None or not meaning.of_nodes[0]:
        return None
    others = [clause for clause in clauses if clause is not decisive]
    subject = counted(
        decisive.count, "the only node that the pod selects and tolerates", "the {count} nodes that the pod selects and tolerates"
    )
    brief = _listed(_brief(others, nodes, names_taints=False))
    return phrase("{reason}; of the others, {others}", reason=meaning.headline(decisive.count, subject), others=brief)


def _brief(clauses: Sequence[Clause], nodes: int, *, names_taints: bool = True) -> list[Phrase]:
    """The reasons of a message for a list, those of the most nodes first: "8 are cordoned". Untolerated taints are one reason.

    `names_taints`: many taints are listed.
    """
    counting = [clause for clause in clauses if clause.count]
    taints = [clause for clause in counting if names_taint(clause)]
    if len(taints) < _MANY_TAINTS and not any(map(is_of_several_taints, taints)):
        taints = []
    lacking = _of_every_shortage(counting, nodes)
    said = [
        (
            is_of_control_plane(clause),
            -clause.count,
            _of_every(clause) if clause.count == nodes else _counting(clause.headline_phrase, clause.count),
        )
        for clause in counting
        if clause not in taints and clause not in lacking and clause.headline_phrase is not None
    ]
    if lacking:
        free = joined(
            [Phrase("{resource}", {**meaning.values}) for clause in lacking if (meaning := meaning_of(clause.reason)) is not None], _OR
        )
        said.append((False, -nodes, Phrase(_NONE_FREE, {"resource": free})))
    if taints:
        count = sum(clause.count for clause in taints)
        tainted = phrase("{count} have taints that the pod does not tolerate ({taints})", count=count, taints=listed_taints(taints))
        said.append((False, -count, tainted if names_taints else phrase("{count} have taints that the pod does not tolerate", count=count)))
    return [reason for *_, reason in sorted(said, key=lambda each: each[:2])]


def _of_every_shortage(counting: Sequence[Clause], nodes: int) -> list[Clause]:
    """The clauses of CPU, memory or storage of which no node has enough, if there are several: one sentence says it."""
    lacking = [
        clause
        for clause in counting
        if clause.count == nodes and (meaning := meaning_of(clause.reason)) is not None and meaning.of_none == _ENOUGH_FREE
    ]
    return lacking if len(lacking) >= _SEVERAL else []


def _of_every(clause: Clause) -> Phrase:
    """The headline of a reason that all nodes have, beside other reasons: "none matches the pod's node selector"."""
    meaning = meaning_of(clause.reason)
    if meaning is None or not meaning.of_nodes[1]:
        return clause.headline_phrase or Phrase(clause.reason.replace("{", "{{").replace("}", "}}"))
    if meaning.of_none:
        return meaning.headline_of(_EVERY[0], is_none=True)
    return meaning.headline_of(_EVERY[1])


def _counting(headline: Phrase, count: int) -> Phrase:
    """The headline with the mere number of nodes, and without what the pod asks for."""
    inner = headline.values.get("headline")
    if isinstance(inner, Phrase):
        return _counting(inner, count)
    template = _IN_LIST.get(headline.template, headline.template)
    return Phrase(template, {**headline.values, "nodes": phrase("{count}", count=count)}) if "nodes" in headline.values else headline


def _listed(reasons: Sequence[Phrase]) -> Phrase:
    """The first reasons with commas and an "and" before the last; further ones are counted."""
    first, left = list(reasons[:_IN_CONCLUSION]), len(reasons) - _IN_CONCLUSION
    if left > 0:
        first.append(counted(left, "{count} other reason applies", "{count} other reasons apply"))
    if len(first) == 1:
        return first[0]
    # "None matches the node selector or affinity and 2 are cordoned" would be read wrongly.
    is_short = len(first) == _SEVERAL and not any(reason.values.get("nodes") in _EVERY or reason.template == _NONE_FREE for reason in first)
    between = "{first} and {next}" if is_short else "{first}, and {next}"
    return Phrase(between, {"first": joined(first[:-1]), "next": first[-1]})


def _first(clauses: Sequence[Clause], nodes: int) -> Phrase | None:
    """What to try first, if the counts leave one possibility."""
    if _is_pinned_by_name(clauses):
        return _OF_PINNED
    cause = only_cause(clauses, nodes)
    return (cause.advice_phrase or Phrase(cause.advice, {})) if cause is not None and cause.advice else None


def _concluded(message: Message, clauses: tuple[Clause, ...]) -> Message:
    """The message with these clauses, and what they say together."""
    if message.finding_phrase == _STATUS_IS_WHOLE:
        return _cut_off(message, clauses)
    if len(clauses) >= _SEVERAL and _is_pinned_by_name(clauses):
        clauses = tuple(_advised(clause, None) for clause in clauses)
    conclusion = _conclusion(message.nodes, clauses)
    first = _first(clauses, message.nodes) if conclusion is not None else None
    return msgspec.structs.replace(
        message,
        clauses=clauses,
        conclusion=conclusion.text if conclusion is not None else "",
        conclusion_phrase=conclusion,
        first=first.text if first is not None else "",
        first_phrase=first,
    )


def _cut_off(message: Message, clauses: tuple[Clause, ...], pod: str = "", selector: str = "") -> Message:
    """The message that lacks the reasons of most nodes. `selector`: the pod's node selector, if it is known."""
    said = phrase(
        "The text is cut off after the reasons for {known} of the {count} nodes, so the main reason is probably missing.",
        known=message.nodes - message.unaccounted,
        count=message.nodes,
    )
    if selector:
        said = phrase("{sentence} The pod's node selector is `{selector}`.", sentence=said, selector=selector)
    first = Phrase(_WHOLE_MESSAGE, {**Named(pod=pod).values})
    return msgspec.structs.replace(
        message, clauses=clauses, conclusion=said.text, conclusion_phrase=said, first=first.text, first_phrase=first
    )


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
    return msgspec.structs.replace(clause, headline=meaning.text, headline_phrase=meaning, meaning=meaning.text, meaning_phrase=meaning)


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
