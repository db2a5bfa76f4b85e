"""`verdict_of`: what an autoscaler's newest message about a pod decides, in view of the scheduler's: whether a node comes, or why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from schedviz.explain.autoscalers.daemon_set_pods import explained_daemon_set_pod
from schedviz.explain.autoscalers.failed_scale_up import explained_failure, is_failure
from schedviz.explain.autoscalers.karpenter import refusal_of
from schedviz.explain.autoscalers.karpenter_objects import refusal_of_object
from schedviz.explain.autoscalers.node_groups import refusal_of_groups
from schedviz.explain.autoscalers.refusal import Refusal
from schedviz.explain.autoscalers.scale_up import Earlier, Repeats, coming
from schedviz.explain.reason_tables.node_groups import READ_THE_LOG
from schedviz.trace.phrase import Phrase, as_sentence, phrase


class Said(Protocol):
    """A message about a pod."""

    @property
    def at(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def writer(self) -> str: ...


class Verdict(NamedTuple):
    """What to read first about the pod; `sentence` is None if the scheduler's message says more."""

    sentence: Phrase | None
    advice: Phrase | None = None
    note: Phrase | None = None
    is_coming: bool = False
    #: Whether a node that the autoscaler chose should have come by now.
    is_late: bool = False


#: How often events were repeated, by their text.
AllRepeats = Mapping[str, Repeats]


def _begin(said: Said, age: Callable[[str], float], repeats: AllRepeats) -> float:
    """How many seconds ago an event was sent first."""
    repeated = repeats.get(said.text)
    return max(age(said.at), repeated.seconds) if repeated is not None and repeated.times > 1 else age(said.at)


def verdict_of(said: Said, messages: Sequence[Said], age: Callable[[str], float], repeats: AllRepeats) -> Verdict:
    """The verdict. `messages`: all about the pod, `age` as in `newest_first`."""
    of_scheduler = [message for message in messages if not message.writer]
    # Of other times only the order is known.
    seconds = age(said.at) if said.at.endswith(" ago") else float("inf")
    is_rejected = any(_is_later(message.at, said.at, age) for message in of_scheduler)
    of_same = sorted((each for each in messages if each.writer == said.writer and each is not said), key=lambda each: age(each.at))
    events_before = [Earlier(each.text, _begin(each, age, repeats) - _begin(said, age, repeats)) for each in of_same if each.at and said.at]
    node = coming(said.text, said.at, seconds, repeats.get(said.text, Repeats()), is_rejected=is_rejected, earlier=events_before)
    broken = next(
        (because for each in messages if each.writer == said.writer and (because := refusal_of_object(each.text)) is not None), None
    )
    if node is not None and broken is not None:
        # The log or the NodeClaim itself says why the node does not come.
        return Verdict(broken.sentence, broken.advice, node.sentence if node.is_late else None, is_late=node.is_late)
    if node is not None:
        return Verdict(node.sentence, node.advice, is_coming=not node.is_late, is_late=node.is_late)
    if (failure := explained_failure(said.text) or explained_daemon_set_pod(said.text)) is not None:
        return _failed(failure)
    # An event without a reason may be explained by the log.
    of_writer = (said, *(each for each in messages if each.writer == said.writer))
    refusal = next((found for each in of_writer if (found := _refusal(each.text)) is not None), None)
    if refusal is None:
        if of_scheduler:
            return Verdict(None)
        return Verdict(phrase("The cluster autoscaler did not add a node, and its event gives no reason."), READ_THE_LOG)
    if "in backoff after failed scale-up" in said.text and (earlier := next((each for each in messages if is_failure(each.text)), None)):
        # The failure says why the autoscaler waits.
        explained = explained_failure(earlier.text)
        if explained is not None:
            failed = _failed(explained)
            return Verdict(failed.sentence, failed.advice, phrase("The autoscaler is waiting before it retries."))
    return Verdict(refusal.sentence, refusal.advice, refusal.note)


def _refusal(message: str) -> Refusal | None:
    return refusal_of_groups(message) or refusal_of(message) or refusal_of_object(message)


def _is_later(at: str, than: str, age: Callable[[str], float]) -> bool:
    """Whether something was said at the same time or later: "5m ago", or RFC 3339. False if the times are not known."""
    if "T" in at and "T" in than:
        return at >= than
    return age(at) <= age(than) < float("inf")


def verdict_of_all(said: Sequence[Said], messages: Sequence[Said], age: Callable[[str], float], repeats: AllRepeats) -> Verdict:
    """The verdict of the newest message of an autoscaler; a cluster may have two of them, of which the other one's is the note.

    An autoscaler whose node did not come decides, and not one that has no node group for the pod.

    `said`: the newest message of each autoscaler, the newest first.
    """
    verdict, *others = (verdict_of(each, messages, age, repeats) for each in said)
    if verdict.is_coming or not others or others[0].sentence is None:
        return verdict
    if verdict.sentence is None:
        return others[0]
    first, second = (others[0], verdict) if others[0].is_late and not verdict.is_late else (verdict, others[0])
    if second.sentence is None or first.note is None:
        return first._replace(note=second.sentence)
    return first._replace(note=phrase("{first} {next}", first=first.note, next=second.sentence))


def _failed(failure: tuple[Phrase, Phrase]) -> Verdict:
    said, advice = failure
    return Verdict(Phrase(f"{as_sentence(said.template)}.", said.values), advice)
