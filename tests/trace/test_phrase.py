"""Phrases with their values, rendered in English."""

from __future__ import annotations

import msgspec

from schedviz.trace.phrase import Phrase, joined, phrase
from schedviz.trace.sentences import stage
from schedviz.trace.view import RejectionView


def test_the_first_phrases_are_joined_and_the_others_are_counted() -> None:
    names = [phrase("{name}", name=f"node-{number}") for number in range(5)]

    assert joined(names[:1]).text == "node-0"
    assert joined(names, "{first}; {next}").text == "node-0; node-1; node-2; node-3; node-4"
    assert joined(names, maximum=3).text == "node-0, node-1, node-2 and 2 more"


def test_a_filter_stage_with_a_thousand_rejection_reasons_has_a_phrase() -> None:
    rejections = [RejectionView("Scripted", "Unschedulable", [f"reason {number}"], 1) for number in range(1000)]

    sentence = stage("Filter", [], {}, rejections)

    assert sentence is not None
    assert sentence.text.endswith(" and 980 more")
    assert msgspec.json.decode(msgspec.json.encode(sentence), type=Phrase) == sentence
