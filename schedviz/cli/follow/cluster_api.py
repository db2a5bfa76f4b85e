"""An API server, as far as it is read: list and watch, with GET and nothing else."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import IO, Any, Literal
from urllib.parse import urlencode

import msgspec

from schedviz.cli.follow.credentials import Credentials
from schedviz.cli.follow.errors import Expired, FollowError, Forbidden, NotServed, Unavailable
from schedviz.cli.follow.kubeconfig import Access
from schedviz.cli.redirects import NoRedirects
from schedviz.kube.kinds import Kind

_PAGE = 500
#: The API server ends a watch after so long; whoever is behind a proxy that forgets connections notices then.
_WATCH_SECONDS = 240
#: Without a byte for so long a connection is given up.
_SILENCE_SECONDS = 300
#: The scheduler's own informer asks for these pods alone. Upstream: pkg/scheduler/scheduler.go newPodInformer
_UNFINISHED = "status.phase!=Succeeded,status.phase!=Failed"
_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _GONE = 401, 403, 404, 410


class _Meta(msgspec.Struct, frozen=True, rename="camel"):
    resource_version: str = ""
    next: str = msgspec.field(default="", name="continue")


class _List(msgspec.Struct, frozen=True):
    metadata: _Meta = _Meta()
    items: list[msgspec.Raw] | None = None


class _Event(msgspec.Struct, frozen=True):
    type: str
    object: msgspec.Raw


class _Status(msgspec.Struct, frozen=True):
    code: int = 0
    message: str = ""


class _WithMeta(msgspec.Struct, frozen=True):
    metadata: _Meta = _Meta()


class Told(msgspec.Struct, frozen=True):
    """One line of a watch. A BOOKMARK has no object, only a version from which a watch may go on."""

    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
    object: bytes
    resource_version: str


class ClusterApi:
    """Reads one cluster."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._credentials = Credentials(access)
        self._opener = self._made()

    def _made(self) -> urllib.request.OpenerDirector:
        # Where an API server sends us on to must not get our credentials.
        return urllib.request.build_opener(urllib.request.HTTPSHandler(context=self._credentials.tls()), NoRedirects())

    def list(self, kind: Kind) -> tuple[list[bytes], str]:
        """All objects of a kind, and the resource version as of which they are. Raises as `_open` does."""
        items: list[bytes] = []
        query = {"limit": str(_PAGE), **_selector(kind)}
        while True:
            with self._open(kind, "list", query) as response:
                found = _decoded(_read(response), _List)
            items += [bytes(item) for item in found.items or ()]
            if not found.metadata.next:
                return items, found.metadata.resource_version
            query["continue"] = found.metadata.next

    def watch(self, kind: Kind, resource_version: str) -> Iterator[Told]:
        """What happens to a kind after a version, until the server ends it. Raises `Expired`, and as `_open` does."""
        query = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(_WATCH_SECONDS),
            **_selector(kind),
        }
        with self._open(kind, "watch", query) as response:
            while line := _line(response):
                yield _told(line)

    def _open(self, kind: Kind, verb: str, query: dict[str, str]) -> IO[bytes]:
        """Raises `Forbidden`, `NotServed`, `Expired`, `Unavailable` or `FollowError`."""
        try:
            return self._request(kind, query)
        except urllib.error.HTTPError as error:
            if error.code == _UNAUTHORIZED and self._credentials.refused():
                self._opener = self._made()
                try:
                    return self._request(kind, query)
                except urllib.error.HTTPError as again:
                    raise self._as_error(again, kind, verb) from None
            raise self._as_error(error, kind, verb) from None

    def _request(self, kind: Kind, query: dict[str, str]) -> IO[bytes]:
        root = "api" if "/" not in kind.api_version else "apis"
        address = f"{self._access.server}/{root}/{kind.api_version}/{kind.resource}?{urlencode(query)}"
        headers = {"Accept": "application/json", "User-Agent": "schedviz-follow", **self._credentials.headers()}
        try:
            opened: IO[bytes] = self._opener.open(urllib.request.Request(address, headers=headers), timeout=_SILENCE_SECONDS)  # noqa: S310
        except urllib.error.HTTPError:
            raise
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            if "CERTIFICATE_VERIFY_FAILED" in str(reason):
                raise FollowError(f"{self._access.server}: its certificate is not trusted by the kubeconfig: {reason}") from None
            raise Unavailable(f"{self._access.server} does not answer: {reason}") from None
        return opened

    def _as_error(self, error: urllib.error.HTTPError, kind: Kind, verb: str) -> Exception:
        with error:
            try:
                said = msgspec.json.decode(error.read(), type=_Status).message
            except (msgspec.DecodeError, OSError, http.client.HTTPException):
                said = ""
        said = said or f"HTTP {error.code}"
        if error.code == _GONE:
            return Expired(said)
        if error.code == _FORBIDDEN:
            return Forbidden(verb, _qualified(kind), said)
        if error.code == _NOT_FOUND:
            return NotServed(f"the cluster has no {_qualified(kind)} ({kind.api_version})")
        if error.code == _UNAUTHORIZED:
            return FollowError(f"{self._access.server} does not know the user of context {self._access.context}: {said}")
        if error.code == 429 or error.code >= 500:
            return Unavailable(f"{self._access.server}: {said}")
        return FollowError(f"{self._access.server} refuses to {verb} {_qualified(kind)}: {said}")


def _qualified(kind: Kind) -> str:
    group = kind.api_version.rpartition("/")[0]
    return f"{kind.resource}.{group}" if group else kind.resource


def _selector(kind: Kind) -> dict[str, str]:
    return {"fieldSelector": _UNFINISHED} if kind.name == "Pod" else {}


def _told(line: bytes) -> Told:
    event = _decoded(line, _Event)
    content = bytes(event.object)
    if event.type == "ERROR":
        status = _decoded(content, _Status)
        raise Expired(status.message) if status.code == _GONE else Unavailable(status.message or f"status {status.code}")
    if event.type not in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK"):
        raise Unavailable(f"a watch told of {event.type!r}, which is unknown")
    return Told(event.type, content, _decoded(content, _WithMeta).metadata.resource_version)


def _decoded(data: bytes, type_: Any) -> Any:
    try:
        return msgspec.json.decode(data, type=type_)
    except msgspec.DecodeError as error:
        # A connection that broke in the middle of a line looks like this, too.
        raise Unavailable(f"the API server sent what is not JSON of Kubernetes: {error}") from None


def _read(response: IO[bytes]) -> bytes:
    try:
        return response.read()
    except (OSError, http.client.HTTPException) as error:
        raise Unavailable(f"the connection broke: {error}") from None


def _line(response: IO[bytes]) -> bytes:
    try:
        return response.readline()
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise Unavailable(f"the connection broke: {error}") from None
