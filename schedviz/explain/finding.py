"""`Finding`: one difference between the API server and a scheduler, as found by the doctor. Explanations refer to findings."""

from __future__ import annotations

from typing import Literal

import msgspec

from schedviz.trace.phrase import Phrase

Side = Literal["API", "informers", "cache", "snapshot", "queue", "dump", "comparer"]


class Value(msgspec.Struct, frozen=True, rename="camel"):
    """An amount that differs between two sides: millicores, bytes, or counts."""

    name: str
    left: int
    right: int


class Finding(msgspec.Struct, frozen=True, rename="camel"):
    """One difference or, if `differs` is false, a transient condition or false alarm."""

    differs: bool
    #: The kind of finding, for programs: `missed node`, `ghost node`, `requested`, `assumed pod`, …
    kind: str
    #: `Node worker-2`, `Pod default/web-1`.
    about: str
    #: The two sides; values have the first on the left.
    between: tuple[Side, Side]
    sentence: str
    #: The likely cause.
    cause: str = ""
    #: What to do, or where to look.
    advice: str = ""
    values: tuple[Value, ...] = ()
    #: The same three, for translation.
    sentence_phrase: Phrase | None = None
    cause_phrase: Phrase | None = None
    advice_phrase: Phrase | None = None
