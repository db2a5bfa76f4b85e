"""What the service has and allows: quotas, samples."""

from __future__ import annotations

from typing import Literal

from schedviz.web.api.schemas.body import Body


class QuotaBody(Body, frozen=True):
    """A limit. `own`: for your sessions together, else for all of the server. `limit` null: there is none. `used`: only of your own."""

    kind: Literal["sessions", "nodes", "pods", "cycles", "bytes"]
    setting: str
    limit: int | None
    used: int | None
    own: bool


class QuotaList(Body, frozen=True):
    """Your quotas, then those of the server."""

    results: list[QuotaBody]


class SampleLine(Body, frozen=True):
    """A case that ships with schedviz."""

    name: str
    description: str


class SampleList(Body, frozen=True):
    """All of them."""

    results: list[SampleLine]
