"""`in_plural`: an English sentence about one pod as a sentence about several, for pods that have the same messages."""

from __future__ import annotations

import re
from typing import Final

_THIS: Final = re.compile(r"\b(?P<first>[Tt])his pod(?P<owner>'s)?\b")
_OWNER: Final = re.compile(r"\b(?P<first>[Tt])he pod's\b")
_SUBJECT: Final = re.compile(r"\b(?P<first>[Tt])he pod\b(?!')")
_VERB: Final = re.compile(r"(?P<pods>\b[Tt]he(?:se \d+)? pods )(?P<verb>[a-z]+)(?: and (?P<second>[a-z]+s)\b)?")
_IRREGULAR: Final = {"is": "are", "was": "were", "has": "have", "does": "do", "matches": "match"}


def in_plural(text: str, count: int) -> str:
    """The text about `count` pods. Code between backticks stays; the page does the same in `model/text/inPlural.ts`."""
    if count <= 1:
        return text
    parts = text.split("`")
    return "`".join(part if number % 2 else _plural(part, count) for number, part in enumerate(parts))


def _plural(text: str, count: int) -> str:
    text = _THIS.sub(lambda this: f"{this['first']}hese {count} pods{chr(39) if this['owner'] else ''}", text)
    text = _OWNER.sub(lambda owner: f"{owner['first']}he pods'", text)
    text = _SUBJECT.sub(lambda subject: f"{subject['first']}he pods", text)
    return _VERB.sub(_with_verbs, text)


def _with_verbs(found: re.Match[str]) -> str:
    second = f" and {_verb(found['second'])}" if found["second"] else ""
    return f"{found['pods']}{_verb(found['verb'])}{second}"


def _verb(word: str) -> str:
    """The verb in the plural; another word as it is."""
    return _IRREGULAR.get(word) or (word[:-1] if word.endswith("s") and not word.endswith("ss") else word)
