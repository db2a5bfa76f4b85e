"""`PodAnswer`: what to read first about a pod of a text."""

from __future__ import annotations

from typing import Literal, Self

from schedviz.explain.explanation import Part
from schedviz.trace.phrase import Phrase, joined

#: `scheduled`: the pod has a node, and its messages are over. `deleted`: they are over, too. `coming`: an autoscaler makes a node for it.
#: `notCreated`: the name is that of the pods' owner.
Standing = Literal["pending", "coming", "scheduled", "deleted", "notCreated"]


class PodAnswer(Part, frozen=True):
    """What to read first about a pod of a text, before its messages."""

    #: `namespace/name`; "" as in its messages.
    pod: str
    standing: Standing
    #: "": its messages say it all.
    sentence: str = ""
    sentence_phrase: Phrase | None = None
    #: What to do, with commands between backticks; "" if the messages say it.
    advice: str = ""
    advice_phrase: Phrase | None = None
    #: What its earlier message tells about the newest one; "": nothing.
    note: str = ""
    note_phrase: Phrase | None = None

    @classmethod
    def of(cls, pod: str, standing: Standing, sentence: Phrase | None, advice: Phrase | None = None, note: Phrase | None = None) -> Self:
        """The answer with these phrases as texts, too."""
        return cls(pod, standing).with_phrases(sentence=sentence, advice=advice, note=note)

    def with_note(self, *notes: Phrase) -> Self:
        """The answer with more notes after its own."""
        own = () if self.note_phrase is None else (self.note_phrase,)
        return self.with_phrases(note=joined([*own, *notes], "{first} {next}"))

    @property
    def is_over(self) -> bool:
        """Whether the pod's messages no longer apply."""
        return self.standing in ("scheduled", "deleted")

    @property
    def is_about_claim(self) -> bool:
        """Whether the sentence says why a claim of the pod has no volume."""
        return self.sentence_phrase is not None and "claim" in self.sentence_phrase.values
