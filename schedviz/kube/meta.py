"""The metadata of an object, label selectors, and the root of all kinds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Protocol, TypeVar

import msgspec

#: Go's number types. Numbers outside their ranges are refused.
Int32 = Annotated[int, msgspec.Meta(ge=-(1 << 31), le=(1 << 31) - 1)]
Int64 = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]


class ObjectPart(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """A part of an object. `gc=False` is safe because a frozen struct cannot be part of a reference cycle."""


class OwnerReference(ObjectPart, frozen=True, gc=False):
    """The owner of an object."""

    api_version: str = msgspec.field(default="", name="apiVersion")
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class ObjectMeta(ObjectPart, frozen=True, gc=False):
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


class Condition(ObjectPart, frozen=True, gc=False):
    """A condition of an object. Upstream: apimachinery/pkg/apis/meta/v1/types.go Condition"""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class HasType(Protocol):
    """A condition of any kind of object."""

    @property
    def type(self) -> str: ...


AnyCondition = TypeVar("AnyCondition", bound=HasType)


def condition_of(conditions: Iterable[AnyCondition], type_: str) -> AnyCondition | None:
    """The condition of a type, or None. Upstream: apimachinery/pkg/api/meta/conditions.go FindStatusCondition"""
    return next((condition for condition in conditions if condition.type == type_), None)


def conditions_with(conditions: Sequence[AnyCondition], new: AnyCondition) -> tuple[AnyCondition, ...]:
    """The conditions with this one in the place of the one of its type, or at the end."""
    if condition_of(conditions, new.type) is None:
        return (*conditions, new)
    return tuple(new if condition.type == new.type else condition for condition in conditions)


class LabelSelectorRequirement(ObjectPart, frozen=True, gc=False):
    """One `matchExpressions` entry of a label selector."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(ObjectPart, frozen=True, gc=False):
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


def controller_of(obj: KubeObject) -> OwnerReference | None:
    """The controller that owns an object, or None. Upstream: apimachinery/pkg/apis/meta/v1/controller_ref.go GetControllerOf"""
    return next((owner for owner in obj.metadata.owner_references if owner.controller), None)


def version_number(obj: KubeObject) -> int:
    """The object's resource version as a number; 0 if it is not one.

    Upstream: apiserver/pkg/storage/api_object_versioner.go ObjectResourceVersion
    """
    version = obj.metadata.resource_version
    return int(version) if version.isdecimal() else 0
