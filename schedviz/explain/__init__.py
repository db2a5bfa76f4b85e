"""Answers about a session: why a pod is Pending, what would change it, what else would fit. Plain functions over an engine of one's own.

Everything here works on a copy of a session's engine, or on one made of a dump: nothing that is asked changes what is asked about.
"""

from schedviz.explain.explanation import Clause, Explanation, NodeVerdict, Outlook, QueuePlace, Room
from schedviz.explain.what_if import WhatIf, what_if
from schedviz.explain.why import PodUnknownError, the_pod, why_pending

__all__ = [
    "Clause",
    "Explanation",
    "NodeVerdict",
    "Outlook",
    "PodUnknownError",
    "QueuePlace",
    "Room",
    "WhatIf",
    "the_pod",
    "what_if",
    "why_pending",
]
