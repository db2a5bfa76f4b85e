"""`TextReading`: the messages of a text, with what to read first about each pod: whether it has a node, and whether one is on its way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

from schedviz.explain.explanation import Part
from schedviz.explain.messages.parsed_message import ParsedMessage
from schedviz.explain.pasted.pod_answer import PodAnswer
from schedviz.trace.phrase import Phrase, joined


class TextReading(Part, frozen=True):
    """The messages of a text, and what else it says about their pods."""

    messages: tuple[ParsedMessage, ...]
    #: One for each pod with a message, in their order.
    answers: tuple[PodAnswer, ...]
    #: The warnings that are not about scheduling; "": there are none.
    others: str = ""
    others_phrase: Phrase | None = None

    @classmethod
    def of(cls, messages: Iterable[ParsedMessage], answers: Iterable[PodAnswer], others: Phrase | None) -> Self:
        """The reading with `others` as a text, too."""
        return cls(tuple(messages), tuple(answers), others.text if others is not None else "", others)

    def answer_of(self, pod: str) -> PodAnswer | None:
        """The answer about a pod with a message; None if nothing comes before its messages."""
        return next((answer for answer in self.answers if answer.pod == pod and (answer.sentence or answer.note)), None)


def joined_readings(readings: Sequence[TextReading]) -> TextReading:
    """The readings of several texts as one."""
    if len(readings) == 1:
        return readings[0]
    others = [reading.others_phrase for reading in readings if reading.others_phrase is not None]
    return TextReading.of(
        (message for reading in readings for message in reading.messages),
        (answer for reading in readings for answer in reading.answers),
        joined(others, "{first}; {next}") if others else None,
    )
