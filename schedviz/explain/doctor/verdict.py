"""The first line of what the doctor says: is something wrong, what, and what is most likely behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from schedviz.explain.doctor.finding import Examination, Finding

#: What is behind several findings at once, by what their causes speak of. The first that is spoken of counts.
_SHARED: Final = (
    ("event handler", "the scheduler's informers have what its cache lacks: an event handler failed or was not called"),
    ("after the dump", "the objects are newer than the dump: fetch both at the same moment"),
    ("informer", "watch events from the API server did not reach the scheduler's informers"),
)
_NOTES: Final = {
    "assumed pod": ("a pod is assumed and its binding is on its way", "{count} pods are assumed and their bindings are on their way"),
    "nominated pod": ("a pod is nominated and waits for its node", "{count} pods are nominated and wait for their nodes"),
    "deleting pod": ("a pod that is being deleted waits in the queue", "{count} pods that are being deleted wait in the queue"),
    "other scheduler": ("a pod belongs to another scheduler", "{count} pods belong to another scheduler"),
}


def verdict(examination: Examination) -> str:
    """One sentence, for somebody who reads no other."""
    differences = examination.differences
    if not differences:
        told = _notes(examination.notes)
        return f"Nothing is wrong{f': {told}' if told else ''}."
    if len(differences) == 1:
        return _sentence(differences[0].sentence, _cause_of(differences[0]))
    causes = Counter(_cause_of(finding) for finding in differences)
    cause, count = causes.most_common(1)[0]
    if len(causes) == 1:
        return f"{len(differences)} differences, most likely for one reason: {cause}."
    if count > 1:
        return f"{len(differences)} differences, {count} of them most likely for one reason: {cause}."
    return f"{len(differences)} differences, each with a cause of its own. {_sentence(differences[0].sentence, _cause_of(differences[0]))}"


def _cause_of(finding: Finding) -> str:
    return next((shared for word, shared in _SHARED if word in finding.cause), finding.cause)


def _sentence(what: str, cause: str) -> str:
    said = what[0].upper() + what[1:]
    return f"{said}; likely {cause}." if cause else f"{said}."


def _notes(notes: Sequence[Finding]) -> str:
    counts = Counter(finding.kind for finding in notes)
    found = (_NOTES[kind][count > 1].format(count=count) for kind, count in counts.items() if kind in _NOTES)
    return ", ".join(found)
