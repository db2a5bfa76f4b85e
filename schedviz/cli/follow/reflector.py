"""`Reflector`: mirrors one kind of the cluster by a list and the watch that continues from it.

Upstream: client-go tools/cache/reflector.go ListAndWatch
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from schedviz.cli.follow.backoff import SHORT_WATCH_SECONDS, Backoff
from schedviz.cli.follow.cluster_api import ClusterApi, resource_version_of
from schedviz.cli.follow.errors import Expired, FollowError, Unavailable
from schedviz.cli.follow.outage import Outage
from schedviz.cli.follow.redaction import RedactedObject, Redaction
from schedviz.kube.errors import KubeError
from schedviz.kube.kinds import Kind

#: Digits of a resource version.
_MAX_VERSION_LENGTH = 20


class PushedVersion(msgspec.Struct, frozen=True):
    """The last pushed version of an object."""

    uid: str
    version: str


class Change(msgspec.Struct, frozen=True):
    """A change to push."""

    type: Literal["ADDED", "MODIFIED", "DELETED"]
    object: dict[str, Any]
    version: str = ""
    #: The resource version of the cluster in which the change was seen; 0: it is not a number.
    revision: int = 0
    #: The change was found by a list, so its order among others is not known.
    is_listed: bool = False
    #: The change was pushed after newer ones, or while the watch of another kind was interrupted.
    is_late: bool = False
    #: Bytes of the object's JSON; 0 for a deletion.
    size: int = 0

    def body(self) -> dict[str, Any]:
        """The change as it is pushed."""
        body: dict[str, Any] = {"type": self.type, "object": self.object, "version": self.version}
        # For the server, both mean that the order among other changes is not known.
        return {**body, "listed": True} if self.is_listed or self.is_late else body


class Reflector:
    """Calls `emit` with every difference from the known objects, in order. `emit` may block, which blocks the watch.

    `say` is called with a sentence about each object that is left out, `outage` is notified of interrupted watches.
    """

    def __init__(
        self,
        api: ClusterApi,
        kind: Kind,
        redaction: Redaction,
        *,
        emit: Callable[[Change], None],
        say: Callable[[str], None],
        outage: Outage,
    ) -> None:
        self.kind = kind
        self._api = api
        self._redaction = redaction
        self._emit = emit
        self._say = say
        self._outage = outage
        #: Whether a watch has been open: from then on, an error may pass.
        self._has_run = False
        #: When the last watch was opened; None: it was not.
        self._opened_at: float | None = None
        #: By key, in redacted form.
        self._known: dict[str, PushedVersion] = {}
        #: Of the last list or event.
        self._revision = 0
        self._is_listing = False
        #: From which a watch continues; "": list everything first.
        self.resource_version = ""

    def resume(self, known: Mapping[str, PushedVersion]) -> None:
        """Continue from what was pushed before, by key."""
        self._known = dict(known)

    def list(self) -> int:
        """List everything and emit the differences: what is gone, then the others in the order in which they changed last.

        Returns the number of objects. Raises as `ClusterApi.list` does.
        """
        items, version = self._api.list(self.kind)
        self._revision, self._is_listing = _number(version), True
        objects = [redacted for item in sorted(items, key=_changed_at) if (redacted := self._redacted(item)) is not None]
        listed = {redacted.key for redacted in objects}
        for key in [key for key in self._known if key not in listed]:
            self._emit_deleted(key)
        for redacted in objects:
            self._emit_changed(redacted)
        self._is_listing = False
        self.resource_version = version
        return len(listed)

    def run(self, stop: threading.Event) -> None:
        """Watch until `stop`, and list again when a watch cannot continue.

        Once a watch has been open, every error is retried with backoff, as in client-go: a token may be renewed, a role restored. Raises
        `FollowError` before.
        """
        backoff = Backoff()
        while not stop.is_set():
            try:
                self._opened_at = None
                if not self.resource_version:
                    self.list()
                self.watch()
                if self._was_open():
                    backoff.reset()
                    continue
            except Expired as error:
                self._outage.interrupted(self.kind.resource, Expired(f"the watch has expired ({error}), listing again"))
                self.resource_version = ""
            except Unavailable as error:
                self._outage.interrupted(self.kind.resource, error)
            except FollowError as error:
                if not self._has_run:
                    raise
                self._outage.interrupted(self.kind.resource, error)
            if self._was_open():
                # What broke it is another failure than the one before.
                backoff.reset()
            backoff.wait(stop)

    def watch(self) -> None:
        """Emit changes until the server ends the watch. Raises as `ClusterApi.watch` does."""
        for event in self._api.watch(self.kind, self.resource_version, opened=self._opened):
            self._revision = _number(event.resource_version)
            if event.type != "BOOKMARK" and (redacted := self._redacted(event.object)) is not None:
                if event.type == "DELETED":
                    self._emit_deleted(redacted.key)
                else:
                    self._emit_changed(redacted)
            self.resource_version = event.resource_version or self.resource_version

    def _was_open(self) -> bool:
        """Whether the last watch was open for a while."""
        return self._opened_at is not None and time.monotonic() - self._opened_at > SHORT_WATCH_SECONDS

    def _opened(self) -> None:
        self._has_run = True
        self._opened_at = time.monotonic()
        self._outage.running(self.kind.resource)

    def _emit_changed(self, redacted: RedactedObject) -> None:
        """Emit the object, if it is new or differs from what was pushed last."""
        before = self._known.get(redacted.key)
        if before == (now := PushedVersion(redacted.uid, redacted.version)):
            return
        self._known[redacted.key] = now
        type_: Literal["ADDED", "MODIFIED"] = "ADDED" if before is None or before.uid != now.uid else "MODIFIED"
        self._emit(Change(type_, redacted.object, redacted.version, self._revision, self._is_listing, size=redacted.size))

    def _emit_deleted(self, key: str) -> None:
        """Emit the deletion of an object, if it was pushed."""
        before = self._known.pop(key, None)
        if before is None:
            return
        namespace, _, name = key.rpartition("/")
        metadata = {"name": name, **({"namespace": namespace} if namespace else {}), "uid": before.uid}
        tombstone = {"apiVersion": self.kind.api_version, "kind": self.kind.name, "metadata": metadata}
        self._emit(Change("DELETED", tombstone, revision=self._revision, is_listed=self._is_listing))

    def _redacted(self, content: bytes) -> RedactedObject | None:
        try:
            return self._redaction.redact(content, self.kind)
        except KubeError as error:
            self._say(f"{self.kind.resource}: an object was left out: {error}")
            return None


def _changed_at(item: bytes) -> int:
    return _number(resource_version_of(item))


def _number(resource_version: str) -> int:
    """The number; 0 if it is none. Resource versions are numbers of 64 bits, as far as they are numbers."""
    is_number = resource_version.isascii() and resource_version.isdigit() and len(resource_version) <= _MAX_VERSION_LENGTH
    return int(resource_version) if is_number else 0
