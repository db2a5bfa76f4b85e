"""A Python client for the REST API.

It creates sessions from files, from kubectl or generated, and steps, runs, forks, analyses and compares them:

    from schedviz.client import Session

    with Session.from_kubectl() as session:
        session.run()
        print(session.state().pods)

It needs no other part of schedviz, and no pandas: `pandas.DataFrame(session.cycles())` works as it is. See docs/client.md.
"""

from __future__ import annotations

from schedviz.client.aio import AsyncClient, AsyncSession
from schedviz.client.errors import (
    AnswerTooLarge,
    CommandFailed,
    ImportFailed,
    NotAllowed,
    NotFound,
    Refused,
    ResponseTooLarge,
    SchedvizError,
    TooMany,
    Unavailable,
)
from schedviz.client.kubectl import KubectlError
from schedviz.client.records import Records
from schedviz.client.results import Comparison, Explanation, Outcome, State, WhatIf
from schedviz.client.sync import Client, Session

__all__ = [
    "AnswerTooLarge",
    "AsyncClient",
    "AsyncSession",
    "Client",
    "CommandFailed",
    "Comparison",
    "Explanation",
    "ImportFailed",
    "KubectlError",
    "NotAllowed",
    "NotFound",
    "Outcome",
    "Records",
    "Refused",
    "ResponseTooLarge",
    "SchedvizError",
    "Session",
    "State",
    "TooMany",
    "Unavailable",
    "WhatIf",
]
