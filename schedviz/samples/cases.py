"""Everyday cases: small clusters in which one pod waits for a reason that many people meet, with the usual fix.

A case is a file of `cases/`. Its objects are written in the short forms of `kube.shorthand`. A test plays each case: the explanation
has the claimed reason, and the fix places the pod.
"""

from __future__ import annotations

import functools
from importlib import resources
from typing import Any, Final

import msgspec
import ryaml

from schedviz.kube.shorthand import expanded
from schedviz.trace.releases import V1_36

#: In the order of the gallery: the most frequent first.
NAMES: Final = (
    "gpu-pending",
    "taint-forgotten",
    "too-large-for-any-node",
    "fragmented",
    "volume-in-another-zone",
    "spread-deadlock",
    "label-typo",
    "too-many-pods",
    "anti-affinity-at-scale",
    "preemption-does-not-help",
    "stuck-nominated",
    "host-port-taken",
    "cordoned",
    "scheduling-gate",
)
#: After the fix: long enough for the end of a backoff, then everything is tried.
_AFTERWARDS: Final[tuple[dict[str, Any], ...]] = ({"op": "advance", "seconds": 60}, {"op": "run"})


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One case. `title`, `seen`, `fix` and `action` are English templates without values, which the page translates."""

    name: str = ""
    title: str
    #: The symptom, in one line.
    seen: str
    #: What usually helps.
    fix: str
    #: What the steps of `repair` do, as on a button.
    action: str
    #: `namespace/name` of the pod that waits.
    pod: str
    #: The reason of the explanation's main clause, or the gate that holds the pod back.
    reason: str
    #: Objects, in short forms.
    cluster: list[dict[str, Any]]
    #: The steps of the fix.
    repair: list[dict[str, Any]]
    #: Members of the trace file besides its steps.
    settings: dict[str, Any] = {}

    @property
    def trace(self) -> dict[str, Any]:
        """The trace file: the cluster, and one attempt of each pod."""
        created = [{"op": "create", "object": expanded(obj)} for obj in self.cluster]
        head = {"format": "schedviz-trace/1", "name": self.name, "description": self.seen, "release": V1_36}
        return {**head, **self.settings, "steps": [*created, {"op": "run"}]}

    @property
    def commands(self) -> list[dict[str, Any]]:
        """The commands of the fix, after which the pod is placed."""
        repair = [{**step, "object": expanded(step["object"])} if "object" in step else step for step in self.repair]
        return [*repair, *_AFTERWARDS]


class NodeMark(msgspec.Struct, frozen=True):
    """A node of a thumbnail: `explain.thumbnail.NodeMark`."""

    node: str
    zone: str
    used: int
    requested: int
    plugin: str


class Thumbnail(msgspec.Struct, frozen=True):
    """The nodes of a case in numbers. tools/case_thumbnails.py computes them."""

    resource: str
    nodes: tuple[NodeMark, ...]


@functools.cache
def thumbnails() -> dict[str, Thumbnail]:
    """Those of all cases, by name."""
    return msgspec.json.decode((resources.files(__package__) / "cases/thumbnails.json").read_bytes(), type=dict[str, Thumbnail])


@functools.cache
def cases() -> tuple[Case, ...]:
    """All cases, in the order of the gallery."""
    return tuple(map(_read, NAMES))


def _read(name: str) -> Case:
    text = resources.files(__package__).joinpath("cases", f"{name}.yaml").read_text("utf-8")
    document = ryaml.loads(text)
    return msgspec.structs.replace(msgspec.convert(document, Case), name=name)
