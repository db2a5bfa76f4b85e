"""A read-only client for an API server: list, watch, and reviews of the user's own access."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Annotated, Any, Literal

import httpx
import msgspec

from schedviz.cli.follow.credentials import Credentials
from schedviz.cli.follow.deadline import Deadline
from schedviz.cli.follow.errors import Expired, FollowError, Forbidden, NotServed, Unavailable
from schedviz.cli.follow.kubeconfig import Access
from schedviz.client.decoding import pieces
from schedviz.client.limits import MAX_ERROR_BYTES, MAX_JSON_BYTES, Lines, TooLarge
from schedviz.kube.kinds import Kind

_PAGE_SIZE = 500
#: The largest page: 500 objects of half a megabyte.
_MAX_PAGE_BYTES = MAX_JSON_BYTES
#: The maximum number of JSON values in a page, estimated by its commas: a value takes about 100 bytes of memory, however short it is.
_MAX_VALUES = 10_000_000
#: The largest list of a kind, in bytes and in objects.
_MAX_LIST_BYTES = 4 << 30
_MAX_OBJECTS = 2_000_000
#: Pages in a row without an object, after which a list is taken to be endless.
_MAX_EMPTY_PAGES = 100
#: The most characters of a message of the API server that are shown.
_MAX_MESSAGE_LENGTH = 1000
#: The API server ends a watch after this time, so that connections that a proxy has dropped are noticed.
_WATCH_SECONDS = 240
#: A connection is given up after this long without a byte.
_SILENCE_SECONDS = 300
#: A response is given up this long after its request, however often a byte of its headers or its body arrives.
_RESPONSE_SECONDS = 600
#: The scheduler's own informer selects only these pods. Upstream: pkg/scheduler/scheduler.go newPodInformer
_UNFINISHED = "status.phase!=Succeeded,status.phase!=Failed"
#: Distributions add to it: v1.36.0-eks-1234, v1.36.0+k3s1.
_VERSION = re.compile(r"v\d{1,4}\.\d{1,4}[!-~]{0,50}")
_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _GONE = 401, 403, 404, 410


class _Meta(msgspec.Struct, frozen=True, rename="camel"):
    """Both are sent back in addresses, whose length is limited."""

    resource_version: Annotated[str, msgspec.Meta(max_length=256)] = ""
    next: Annotated[str, msgspec.Meta(max_length=16_384)] = msgspec.field(default="", name="continue")


class _List(msgspec.Struct, frozen=True):
    metadata: _Meta = _Meta()
    items: list[msgspec.Raw] | None = None


class _Event(msgspec.Struct, frozen=True):
    type: str
    object: msgspec.Raw


class _Status(msgspec.Struct, frozen=True):
    code: int = 0
    message: str = ""


class _ReviewStatus(msgspec.Struct, frozen=True):
    allowed: bool = False


class _Review(msgspec.Struct, frozen=True):
    status: _ReviewStatus = _ReviewStatus()


class _Version(msgspec.Struct, frozen=True, rename="camel"):
    git_version: str = ""


class _WithMeta(msgspec.Struct, frozen=True):
    metadata: _Meta = _Meta()


class WatchEvent(msgspec.Struct, frozen=True):
    """One event of a watch. A BOOKMARK has no object, only a resource version from which a watch may continue."""

    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
    object: bytes
    resource_version: str


class ClusterApi:
    """Reads one cluster."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._credentials = Credentials(access)
        self._http = self._client()

    def _client(self) -> httpx.Client:
        """Without redirects, which would send the credentials elsewhere, and with one connection per request, because watches last long.

        Raises `FollowError`.
        """
        try:
            httpx.URL(self._access.server)
            return httpx.Client(
                verify=self._credentials.tls(),
                proxy=self._access.proxy or None,
                follow_redirects=False,
                timeout=_SILENCE_SECONDS,
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
                headers={"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "schedviz-follow"},
            )
        except (httpx.InvalidURL, ValueError) as error:
            raise FollowError(f"context {self._access.context}: server or proxy-url is not a valid address: {error}.") from None
        except ImportError:
            raise FollowError(
                f"context {self._access.context}: SOCKS proxies are not supported (proxy-url, or ALL_PROXY); use an HTTP proxy."
            ) from None

    def list(self, kind: Kind) -> tuple[list[bytes], str]:
        """All objects of a kind, and the resource version of the list. Raises as `_open` does."""
        items: list[bytes] = []
        size = empty = 0
        query = {"limit": str(_PAGE_SIZE), **_selector(kind)}
        while True:
            with self._open(kind, "list", query) as response:
                page = _decoded(_page(response), _List)
            items += [bytes(item) for item in page.items or ()]
            size += sum(map(len, page.items or ()))
            empty = 0 if page.items else empty + 1
            if size > _MAX_LIST_BYTES:
                raise FollowError(f"{self._access.address}: {TooLarge(f'the list of {kind.resource}', _MAX_LIST_BYTES)}.")
            if len(items) > _MAX_OBJECTS:
                raise FollowError(f"{self._access.address}: the list of {kind.resource} has more than {_MAX_OBJECTS:,} objects.")
            if empty > _MAX_EMPTY_PAGES:
                raise FollowError(f"{self._access.address}: the list of {kind.resource} has {empty} pages in a row without an object.")
            if not page.metadata.next:
                return items, page.metadata.resource_version
            query["continue"] = page.metadata.next

    def version_of_list(self, kind: Kind, selector: str) -> str:
        """The resource version from which a watch may begin. Raises as `_open` does."""
        with self._open(kind, "list", {"limit": "1", "fieldSelector": selector}) as response:
            return str(_decoded(_page(response), _List).metadata.resource_version)

    def watch(
        self, kind: Kind, resource_version: str, *, selector: str = "", opened: Callable[[], None] = lambda: None
    ) -> Iterator[WatchEvent]:
        """The changes of a kind after a version, until the server ends the watch. Raises `Expired`, and as `_open` does.

        `selector`: of fields, instead of the scheduler's own. `opened` is called when the server has accepted the watch, which may be
        long before its first event.
        """
        query = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(_WATCH_SECONDS),
            **({"fieldSelector": selector} if selector else _selector(kind)),
        }
        with self._open(kind, "watch", query) as response:
            opened()
            for line in _lines(response):
                yield _watch_event(line)

    def may(self, kind: Kind, verb: Literal["list", "watch"]) -> bool | None:
        """Whether the cluster allows the user this; None if it does not review access. Raises `Unavailable` or `FollowError`."""
        group = kind.api_version.rpartition("/")[0]
        attributes = {"group": group, "resource": kind.resource, "verb": verb}
        body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {"resourceAttributes": attributes}}
        url = f"{self._access.server}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        with self._connected() as deadline, self._responding("POST", url, deadline, json=body) as response:
            if response.status_code not in (httpx.codes.OK, httpx.codes.CREATED):
                return None
            return bool(_decoded(_body(response, MAX_ERROR_BYTES), _Review).status.allowed)

    def version(self) -> str:
        """The version of the API server, such as v1.36.0; "" if it does not report one. Raises `Unavailable` or `FollowError`."""
        with self._connected() as deadline, self._responding("GET", f"{self._access.server}/version", deadline) as response:
            if response.status_code != httpx.codes.OK:
                return ""
            version = _decoded(_body(response, MAX_ERROR_BYTES), _Version).git_version
            return version if _VERSION.fullmatch(version) else ""

    def qualified(self, kind: Kind) -> str:
        """The resource of a kind with its API group, such as `csinodes.storage.k8s.io`."""
        return _qualified(kind)

    @contextmanager
    def _open(self, kind: Kind, verb: str, query: dict[str, str]) -> Iterator[httpx.Response]:
        """An open response. Raises `Forbidden`, `NotServed`, `Expired`, `Unavailable` or `FollowError`."""
        root = "api" if "/" not in kind.api_version else "apis"
        url = f"{self._access.server}/{root}/{kind.api_version}/{kind.resource}"
        with self._connected() as deadline, ExitStack() as responses:
            response = responses.enter_context(self._responding("GET", url, deadline, params=query))
            if response.status_code == _UNAUTHORIZED and self._credentials.refused():
                responses.close()
                self._http = self._client()
                response = responses.enter_context(self._responding("GET", url, deadline, params=query))
            if response.status_code != httpx.codes.OK:
                raise self._as_error(response, kind, verb)
            yield response

    @contextmanager
    def _connected(self) -> Iterator[Deadline]:
        """A deadline for a response. Its end, and errors of the connection, as `Unavailable` or `FollowError`."""
        with Deadline(_RESPONSE_SECONDS) as deadline:
            try:
                yield deadline
            except (httpx.HTTPError, httpx.StreamError, Unavailable) as error:
                if deadline.has_passed:
                    raise Unavailable(f"{self._access.address}: the response was not complete after {deadline.seconds:g} s") from None
                if isinstance(error, Unavailable):
                    raise
                if "CERTIFICATE_VERIFY_FAILED" in str(error):
                    raise FollowError(f"{self._access.address}: its certificate is not trusted by the kubeconfig: {error}") from None
                raise Unavailable(
                    f"{self._access.address} does not respond, or the connection broke: {error or type(error).__name__}"
                ) from None

    @contextmanager
    def _responding(self, method: str, url: str, deadline: Deadline, **request: Any) -> Iterator[httpx.Response]:
        headers = [*self._credentials.headers(), *self._credentials.impersonation()]
        made = self._http.build_request(method, url, headers=headers, extensions={"trace": deadline.trace}, **request)
        response = self._http.send(made, stream=True)
        try:
            yield response
        finally:
            response.close()

    def _as_error(self, response: httpx.Response, kind: Kind, verb: str) -> Exception:
        code = response.status_code
        try:
            message = msgspec.json.decode(_body(response, MAX_ERROR_BYTES), type=_Status).message
        except (msgspec.DecodeError, RecursionError, FollowError, Unavailable):
            message = ""
        message = message[:_MAX_MESSAGE_LENGTH] or f"HTTP {code}"
        if code == _GONE:
            return Expired(message)
        if code == _FORBIDDEN:
            return Forbidden(verb, _qualified(kind), message)
        if code == _NOT_FOUND:
            return NotServed(f"the cluster has no {_qualified(kind)} ({kind.api_version})")
        if code == _UNAUTHORIZED:
            return FollowError(f"{self._access.address} does not know the user of context {self._access.context}: {message}")
        if code == 429 or code >= 500:
            return Unavailable(f"{self._access.address}: {message}")
        return FollowError(f"{self._access.address} refuses to {verb} {_qualified(kind)}: {message}")


def resource_version_of(content: bytes) -> str:
    """The resource version of an object. Raises `Unavailable`."""
    return str(_decoded(content, _WithMeta).metadata.resource_version)


def _qualified(kind: Kind) -> str:
    group = kind.api_version.rpartition("/")[0]
    return f"{kind.resource}.{group}" if group else kind.resource


def _selector(kind: Kind) -> dict[str, str]:
    return {"fieldSelector": _UNFINISHED} if kind.name == "Pod" else {}


def _watch_event(line: bytes) -> WatchEvent:
    event = _decoded(line, _Event)
    content = bytes(event.object)
    if event.type == "ERROR":
        status = _decoded(content, _Status)
        message = status.message[:_MAX_MESSAGE_LENGTH]
        raise Expired(message) if status.code == _GONE else Unavailable(message or f"status {status.code}")
    if event.type not in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK"):
        raise Unavailable(f"a watch has an event of the unknown type {event.type[:80]!r}")
    return WatchEvent(event.type, content, _decoded(content, _WithMeta).metadata.resource_version)


def _decoded(data: bytes, type_: Any) -> Any:
    try:
        return msgspec.json.decode(data, type=type_)
    except (msgspec.DecodeError, RecursionError) as error:
        # A connection that broke within a line has the same effect.
        raise Unavailable(f"the API server sent what is not JSON of Kubernetes: {error}") from None


def _lines(response: httpx.Response) -> Iterator[bytes]:
    """The lines of a watch as they arrive. Raises `FollowError`."""
    lines = Lines()
    try:
        for data in pieces(response):
            yield from lines.add(data)
    except TooLarge as error:
        raise FollowError(f"{response.request.url.host}: {error}.") from None
    if last := lines.end():
        yield last


def _page(response: httpx.Response) -> bytes:
    """The body of a page of a list. Raises `FollowError`."""
    body = _body(response, _MAX_PAGE_BYTES)
    if body.count(b",") > _MAX_VALUES:
        raise FollowError(f"{response.request.url.host}: the response has more than {_MAX_VALUES:,} values, the limit of this client.")
    return body


def _body(response: httpx.Response, max_bytes: int) -> bytes:
    """The body of a response. Raises `FollowError`."""
    body = bytearray()
    for data in pieces(response):
        body += data
        if len(body) > max_bytes:
            raise FollowError(f"{response.request.url.host}: {TooLarge('the response', max_bytes)}.")
    return bytes(body)
