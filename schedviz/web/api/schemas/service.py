"""Resources of the service: quotas, samples."""

from __future__ import annotations

from typing import Literal

from schedviz.web.api.schemas.body import Body


class QuotaBody(Body, frozen=True):
    """A limit. `own`: it applies to your sessions together, otherwise to the whole server. `limit` null: unlimited. `used`: only for your
    own.
    """

    kind: Literal["sessions", "nodes", "pods", "cycles", "bytes"]
    setting: str
    limit: int | None
    used: int | None
    own: bool


class QuotaList(Body, frozen=True):
    """Your quotas, then those of the server."""

    results: list[QuotaBody]


class SampleLine(Body, frozen=True):
    """A sample that ships with schedviz."""

    name: str
    description: str


class SampleList(Body, frozen=True):
    """The samples."""

    results: list[SampleLine]
