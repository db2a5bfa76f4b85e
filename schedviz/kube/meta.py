"""The metadata of an object, label selectors, and the root of all kinds."""

from __future__ import annotations

from typing import Annotated

import msgspec

#: Go's number types. A number outside is refused when an object is decoded.
Int32 = Annotated[int, msgspec.Meta(ge=-(1 << 31), le=(1 << 31) - 1)]
Int64 = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]


class Part(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """A piece of an object. `gc=False` is safe: a frozen struct cannot come to refer to itself."""


class OwnerReference(Part, frozen=True, gc=False):
    """The object that another one belongs to."""

    api_version: str = msgspec.field(default="", name="apiVersion")
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class ObjectMeta(Part, frozen=True, gc=False):
    """Name, identity and labels.

    `annotations` has only those that a plugin reads; `unread_annotations` is a digest of the others ("" when there are none).
    Timestamps are RFC 3339 text (see `timestamps.to_seconds`).
    """

    name: str = ""
    namespace: str = ""
    uid: str = ""
    generate_name: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    unread_annotations: str = ""
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: Int64 | None = None
    owner_references: tuple[OwnerReference, ...] = ()
    resource_version: str = ""

    @property
    def key(self) -> str:
        """`namespace/name`, or the name alone for what has no namespace."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class Condition(Part, frozen=True, gc=False):
    """One thing that is known about an object. Upstream: apimachinery/pkg/apis/meta/v1/types.go Condition"""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class LabelSelectorRequirement(Part, frozen=True, gc=False):
    """One `matchExpressions` entry of a label selector."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(Part, frozen=True, gc=False):
    """A label selector as written; `selectors.label_selector` gives it meaning. An empty one selects everything, None nothing."""

    match_labels: dict[str, str] = {}
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


class KubeObject(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True, tag_field="kind", gc=False):
    """The root of all kinds.

    `unread` is a keyed digest over every field that is not kept ("" when there was none), so that an update which changes
    only such a field is seen as a change while nothing of it is stored. Kinds whose updates may keep the status have a second digest
    for that.
    """

    metadata: ObjectMeta = ObjectMeta()
    unread: str = ""

    @property
    def key(self) -> str:
        """`namespace/name`, or the name alone for cluster-scoped kinds."""
        return self.metadata.key

    @property
    def name(self) -> str:
        """The object's name."""
        return self.metadata.name

    @property
    def namespace(self) -> str:
        """The object's namespace, "" for cluster-scoped kinds."""
        return self.metadata.namespace

    @property
    def uid(self) -> str:
        """The object's identity over its whole life."""
        return self.metadata.uid
