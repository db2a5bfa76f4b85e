"""Resources of the service: quotas, samples."""

from __future__ import annotations

from typing import Any, Literal

from schedviz.web.api.schemas.body import Body


class QuotaBody(Body, frozen=True):
    """A limit. `own`: it applies to your sessions together, otherwise to the whole server. `limit` null: unlimited. `used`: only for your
    own.
    """

    kind: Literal["sessions", "nodes", "pods", "objects", "cycles", "bytes"]
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


class NodeMark(Body, frozen=True):
    """A node of a thumbnail. The shares are of what it can allocate, in hundredths; both are 0 if it has none of the resource."""

    node: str
    zone: str
    used: int
    #: What the pod requests.
    requested: int
    #: The plugin that rejects the node first; "" if none does.
    plugin: str


class Thumbnail(Body, frozen=True):
    """The nodes of a case, to draw."""

    #: The resource of the shares.
    resource: str
    nodes: list[NodeMark]


class CaseLine(Body, frozen=True):
    """An everyday case: a small cluster in which a pod waits for a frequent reason. `samples/{name}/` has its trace file."""

    name: str
    title: str
    seen: str
    #: What usually helps.
    fix: str
    #: What `commands` do in the session of the case, as on a button.
    action: str
    #: `namespace/name` of the pod that waits.
    pod: str
    #: The reason of most interest in the explanation of the pod.
    reason: str
    #: The commands that fix it, to send to a session of the case in this order.
    commands: list[dict[str, Any]]
    thumbnail: Thumbnail


class CaseList(Body, frozen=True):
    """The everyday cases, in the order of the gallery."""

    results: list[CaseLine]


class SampleList(Body, frozen=True):
    """The samples."""

    results: list[SampleLine]
