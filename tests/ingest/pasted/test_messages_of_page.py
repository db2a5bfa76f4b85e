"""The page recognizes every kind of message that is found in a text: tests of both read the same texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedviz.ingest.pasted import pasted_text
from schedviz.ingest.pasted.contents import contents_of
from schedviz.kube.text_facts import PoolError

#: A text of each kind; `frontend/tests/model/text/pastedText.test.ts` tests that the page finds a message in each.
TEXTS: dict[str, str] = json.loads((Path(__file__).parents[3] / "frontend" / "tests" / "pastedMessages.json").read_text())


def alternatives(pattern: str) -> Iterator[str]:
    """The alternatives of a regular expression."""
    depth, begin = 0, 0
    for sign in re.finditer(r"\\.|\[(?:\\.|[^\]])+\]|[()|]", pattern, re.DOTALL):
        depth += {"(": 1, ")": -1}.get(sign[0], 0)
        if sign[0] == "|" and depth == 0:
            yield pattern[begin : sign.start()]
            begin = sign.end()
    yield pattern[begin:]


@pytest.mark.parametrize("kind", TEXTS)
def test_each_text_has_a_message(kind: str) -> None:
    contents = contents_of(TEXTS[kind])
    assert contents.messages or any(isinstance(fact, PoolError) for fact in contents.facts)


@pytest.mark.parametrize("head", list(alternatives(pasted_text._HEAD.pattern)))
def test_each_head_of_a_message_has_a_text(head: str) -> None:
    assert [kind for kind, text in TEXTS.items() if re.search(head, text)], "Add a text to pastedMessages.json, and run vitest."
