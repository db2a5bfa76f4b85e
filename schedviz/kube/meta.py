"""The metadata of an object, label selectors, and the root of all kinds."""

from __future__ import annotations

from typing import Annotated

import msgspec

#: Go's number types. Numbers outside their ranges are refused.
Int32 = Annotated[int, msgspec.Meta(ge=-(1 << 31), le=(1 << 31) - 1)]
Int64 = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]


class Part(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """A part of an object. `gc=False` is safe because a frozen struct cannot be part of a reference cycle."""


class OwnerReference(Part, frozen=True, gc=False):
    """The owner of an object."""

    api_version: str = msgspec.field(default="", name="apiVersion")
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class ObjectMeta(Part, frozen=True, gc=False):
    """Name, identity and labels.

    `annotations` has only those that a plugin reads; `unread_annotations` is a digest of the others ("" if there are none). Timestamps are
    RFC 3339 text (see `timestamps.parse_timestamp`).
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
        """`namespace/name`, or only the name for cluster-scoped objects."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class Condition(Part, frozen=True, gc=False):
    """A condition of an object. Upstream: apimachinery/pkg/apis/meta/v1/types.go Condition"""

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
    """A label selector as written; `selectors.label_selector` evaluates it. An empty one selects everything, None nothing."""

    match_labels: dict[str, str] = {}
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


class KubeObject(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True, tag_field="kind", gc=False):
    """The base class of all kinds.

    `unread` is a digest of all unread fields ("" if there are none), so that an update of such a field is noticed without storing it.
    Kinds whose updates may keep the status have a second digest for it.
    """

    metadata: ObjectMeta = ObjectMeta()
    unread: str = ""

    @property
    def key(self) -> str:
        """`namespace/name`, or only the name for cluster-scoped objects."""
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
        """The object's unique ID."""
        return self.metadata.uid
