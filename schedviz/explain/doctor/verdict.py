"""The first line of the doctor's output: whether something is wrong, what, and the most likely cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from schedviz.explain.doctor.differences import Examination
from schedviz.explain.finding import Finding
from schedviz.trace.phrase import Phrase, phrase

_NOTHING: Final = Phrase("")
#: Common causes of several findings, by words in their causes. The first match counts.
_SHARED: Final = (
    ("event handler", phrase("the scheduler's informers have what its cache lacks: an event handler failed or was not called")),
    ("after the dump", phrase("the objects are newer than the dump: collect both at the same time")),
    ("informer", phrase("watch events from the API server did not reach the scheduler's informers")),
)
#: The wording for one note of a kind, and for several.
_NOTES: Final = {
    "assumed pod": (
        phrase("a pod is assumed and its binding is on its way"),
        phrase("{count} pods are assumed and their bindings are on their way"),
    ),
    "nominated pod": (
        phrase("a pod is nominated and waits for its node"),
        phrase("{count} pods are nominated and wait for their nodes"),
    ),
    "nominated without a preemption": (
        phrase("a pod is nominated without a preemption"),
        phrase("{count} pods are nominated without a preemption"),
    ),
    "deleting pod": (
        phrase("a pod that is being deleted waits in the queue"),
        phrase("{count} pods that are being deleted wait in the queue"),
    ),
    "other scheduler": (phrase("a pod belongs to another scheduler"), phrase("{count} pods belong to another scheduler")),
}


def verdict(examination: Examination) -> Phrase:
    """A summary: a clause about the differences, without a capital letter, or a sentence if there are none."""
    differences = examination.differences
    if not differences:
        sentence = _notes(examination.notes)
        return phrase("Nothing is wrong.") if sentence is None else phrase("Nothing is wrong. Note that {notes}.", notes=sentence)
    if len(differences) == 1:
        return _sentence(differences[0])
    causes = Counter(_cause_of(finding).text for finding in differences)
    text, count = causes.most_common(1)[0]
    cause = next(cause for finding in differences if (cause := _cause_of(finding)).text == text)
    if len(causes) == 1:
        return phrase("{count} differences, most likely for one reason: {cause}.", count=len(differences), cause=cause)
    if count > 1:
        return phrase(
            "{count} differences, {some} of them most likely for one reason: {cause}.", count=len(differences), some=count, cause=cause
        )
    return phrase("{count} differences, each with its own cause: {first}", count=len(differences), first=_sentence(differences[0]))


def _cause_of(finding: Finding) -> Phrase:
    return next((shared for term, shared in _SHARED if term in finding.cause), finding.cause_phrase or _NOTHING)


def _sentence(finding: Finding) -> Phrase:
    sentence, cause = finding.sentence_phrase or _NOTHING, _cause_of(finding)
    return phrase("{what}; likely {cause}.", what=sentence, cause=cause) if cause.template else phrase("{what}.", what=sentence)


def _notes(notes: Sequence[Finding]) -> Phrase | None:
    counts = Counter(finding.kind for finding in notes)
    phrases = [Phrase(_NOTES[kind][count > 1].template, {"count": count}) for kind, count in counts.items() if kind in _NOTES]
    sentence: Phrase | None = None
    for note in phrases:
        sentence = note if sentence is None else Phrase("{first}, {next}", {"first": sentence, "next": note})
    return sentence
