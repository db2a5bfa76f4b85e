"""`pod_groups`: the pods of a text about which it says the same. The page, the command line and the cards say it once for each group."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from schedviz.explain.explanation import Part
from schedviz.explain.messages.parsed_message import ParsedMessage, newest_first, newest_of_each_source
from schedviz.explain.pasted.answering import says_all
from schedviz.explain.pasted.pod_answer import PodAnswer
from schedviz.explain.pasted.text_reading import TextReading
from schedviz.explain.reason_tables.queues import GROUP_SCHEDULERS
from schedviz.kube.pod_status import GENERATED_SUFFIX

#: The end of the name of a ReplicaSet's pod.
_OF_REPLICA_SET: Final = re.compile(rf"-{GENERATED_SUFFIX}$")
#: How messages about a NodeClaim name it in place of a pod. Its name ends like that of a ReplicaSet's pod.
_NODE_CLAIM: Final = "nodeclaim/"
#: Names with digits in what an autoscaler says, which differ from pod to pod.
_NAME: Final = re.compile(r"(?<![\w.-])[\w.-]*\d[\w.-]*", re.ASCII)


class PodGroup(Part, frozen=True):
    """Pods about which a text says the same, with the indexes of their messages and their answer in its `TextReading`."""

    #: `namespace/name`; empty: the text does not name the pod.
    pods: tuple[str, ...]
    #: What to read before the messages, if it has a sentence or a note; None: nothing.
    answer: int | None
    #: Whether the messages no longer apply.
    is_over: bool
    #: The newest message: the scheduler's, if one wrote about the pod.
    latest: int
    #: The newest of each other writer; none if the messages no longer apply.
    beside: tuple[int, ...]
    #: The older ones, each text once; of a pod the newest first.
    earlier: tuple[int, ...]
    #: The newest messages of the other pods whose texts differ from the first pod's: they have the same reasons.
    others: tuple[int, ...]
    #: Those of `latest` and `beside` that are quoted instead of explained: the answer says what they mean, or they no longer apply.
    quoted: tuple[int, ...]


def pod_groups(reading: TextReading, age: Callable[[str], float]) -> tuple[PodGroup, ...]:
    """The groups, in the order of the messages. `age` as in `newest_first`.

    Pods are of one group if their newest messages are the same, or if these have the same reasons and the pods are of one ReplicaSet.
    """
    return tuple(_Groups(reading, age).groups)


def pods_alike(pod: str, groups: Iterable[PodGroup]) -> list[str]:
    """The pod, and the others of its group; empty if the messages are about no pod of this name."""
    pods = next((group.pods for group in groups if pod in group.pods), ())
    return [pod, *(each for each in pods if each != pod)] if pods else []


class _Likeness(NamedTuple):
    """What pods of one group have in common."""

    standing: str
    #: The answer's sentence, without its values.
    template: str
    #: `namespace/name` of the ReplicaSet whose pods have the same reasons; "": the messages are the same.
    owner: str
    #: The writer of each newest message, with its text or its reasons.
    said: tuple[tuple[str, ...], ...]


class _Groups:
    """The groups of a reading, one pod after the other."""

    def __init__(self, reading: TextReading, age: Callable[[str], float]) -> None:
        self._messages = reading.messages
        self._answers = reading.answers
        self._age = age
        self._indexes = {id(message): index for index, message in enumerate(reading.messages)}
        unnamed = [message for message in reading.messages if not message.pod]
        #: Of the messages that name no pod, that which the answer about them is about.
        self._answered = newest_of_each_source(unnamed, age)[0] if unnamed else None
        #: The index of the first group of each likeness.
        self._alike: dict[_Likeness, int] = {}
        self.groups: list[PodGroup] = []
        for messages in _by_pod(reading.messages):
            self._add(messages)

    def _add(self, messages: Sequence[ParsedMessage]) -> None:
        """Add a pod with its messages."""
        newest = sorted(newest_of_each_source(messages, self._age), key=_is_of_others)
        place = self._place_of_answer(newest)
        answer = None if place is None else self._answers[place]
        group = self._group(messages, newest, place)
        likenesses = list(_likenesses(newest, answer))
        same = min((self._alike[each] for each in likenesses if each in self._alike), default=None)
        if same is not None:
            self.groups[same] = self._joined(self.groups[same], group)
            return
        for each in likenesses:
            self._alike.setdefault(each, len(self.groups))
        self.groups.append(group)

    def _place_of_answer(self, newest: Sequence[ParsedMessage]) -> int | None:
        """The index of the answer about a pod: of several, that of the first that says something."""
        pod = newest[0].pod
        if not pod and all(each is not self._answered for each in newest):
            return None
        of_pod = [index for index, answer in enumerate(self._answers) if answer.pod == pod]
        telling = (index for index in of_pod if self._answers[index].sentence or self._answers[index].note)
        return next(telling, of_pod[0] if of_pod else None)

    def _group(self, messages: Sequence[ParsedMessage], newest: Sequence[ParsedMessage], place: int | None) -> PodGroup:
        """The group of one pod. `place`: of its answer."""
        answer = None if place is None else self._answers[place]
        is_over = answer is not None and answer.is_over
        shown = [self._indexes[id(message)] for message in (newest[:1] if is_over else newest)]
        by_age = sorted(newest_first(messages, self._age), key=lambda message: self._age(message.at))
        return PodGroup(
            pods=tuple(filter(None, [newest[0].pod])),
            answer=place,
            is_over=is_over,
            latest=shown[0],
            beside=tuple(shown[1:]),
            earlier=self._unequal(index for message in by_age if (index := self._indexes[id(message)]) not in shown),
            others=(),
            quoted=tuple(each for each in shown if is_over or says_all(answer, self._messages[each])),
        )

    def _joined(self, group: PodGroup, other: PodGroup) -> PodGroup:
        """The group with the pod of another."""
        differs = self._messages[other.latest].text != self._messages[group.latest].text
        return msgspec.structs.replace(
            group,
            pods=group.pods + other.pods,
            earlier=self._unequal([*group.earlier, *other.earlier]),
            others=(*group.others, other.latest) if differs else group.others,
        )

    def _unequal(self, indexes: Iterable[int]) -> tuple[int, ...]:
        """Of messages with equal texts the first."""
        first: dict[str, int] = {}
        for index in indexes:
            first.setdefault(self._messages[index].text, index)
        return tuple(first.values())


def _by_pod(messages: Sequence[ParsedMessage]) -> Iterable[list[ParsedMessage]]:
    """The messages of each pod.

    Those that name no pod and have an age are of one events table, and thus of one pod. So are one message of the scheduler and one of each
    other writer without either; further messages without either are each about a pod of its own.
    """
    writers = [message.writer for message in messages if not message.pod and not message.at]
    are_of_one = any(writers) and len({*writers}) == len(writers)
    by_pod: dict[str | int, list[ParsedMessage]] = {}
    for index, message in enumerate(messages):
        is_of_one = message.pod or message.at or are_of_one
        by_pod.setdefault(message.pod if is_of_one else index, []).append(message)
    return by_pod.values()


def _is_of_others(message: ParsedMessage) -> bool:
    """Whether no scheduler wrote the message."""
    return bool(message.writer) and message.writer not in GROUP_SCHEDULERS


def _likenesses(newest: Sequence[ParsedMessage], answer: PodAnswer | None) -> Iterator[_Likeness]:
    """What puts a pod into a group with others; nothing for messages that name no pod."""
    pod = newest[0].pod
    if not pod:
        return
    standing = answer.standing if answer is not None else "pending"
    template = answer.sentence_phrase.template if answer is not None and answer.sentence_phrase is not None else ""
    yield _Likeness(standing, template, "", tuple((message.writer, message.text) for message in newest))
    if _OF_REPLICA_SET.search(pod) and not pod.startswith(_NODE_CLAIM):
        yield _Likeness(standing, template, _OF_REPLICA_SET.sub("", pod), tuple((message.writer, *_reasons(message)) for message in newest))


def _reasons(message: ParsedMessage) -> list[str]:
    """The reasons of a message without their numbers of nodes and, of an autoscaler, without the names that differ from pod to pod."""
    reasons = [clause.reason for clause in message.message.clauses] or [message.text]
    return sorted({_NAME.sub("#", reason) if message.writer else reason for reason in reasons})
