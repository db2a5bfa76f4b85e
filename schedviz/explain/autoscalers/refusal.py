"""`Refusal`: why an autoscaler adds no node for a pod."""

from __future__ import annotations

from typing import NamedTuple

from schedviz.trace.phrase import Phrase


class Refusal(NamedTuple):
    """Why no node comes for a pod, what to do about it, and what else is known; None: nothing."""

    sentence: Phrase
    advice: Phrase | None
    note: Phrase | None = None
