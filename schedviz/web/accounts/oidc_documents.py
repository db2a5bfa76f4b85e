"""The JSON documents of an OpenID Connect provider: its configuration, its keys, and the tokens that it issues.

A provider that hangs must not occupy the threads of the web server: one request at a time fetches a document, with a time limit and a size
limit, and a failure is remembered.
"""

from __future__ import annotations

import json
import threading
import time
from typing import Any, Final
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter

#: How long a fetched document is used. After that, removed keys are no longer accepted.
VALID_SECONDS: Final = 3600.0
#: After a failure, the document is not fetched again for this long.
FAILED_SECONDS: Final = 30.0
#: The time limit of one fetch, and of the requests that wait for it.
FETCH_SECONDS: Final = 5.0
DOCUMENT_BYTES: Final = 1 << 20
_READ_BYTES: Final = 1 << 16


class DocumentUnavailable(Exception):
    """The provider does not return the document."""


class Document:
    """A JSON object at a URL of the provider. Safe to use from several threads."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._lock = threading.Lock()
        self._started = 0.0
        self._found: dict[str, Any] | None = None
        self._valid_until = 0.0
        self._failed_until = 0.0

    def read(self, *, refetch: bool = False) -> dict[str, Any]:
        """The document. Fetches it if it is older than an hour, or with `refetch`. While the provider fails, returns the older document.

        Raises `DocumentUnavailable` if there is none.
        """
        cached = self._found
        if cached is not None and not refetch and time.monotonic() < self._valid_until:
            return cached
        requested_at = time.monotonic()
        if not self._lock.acquire(timeout=self._wait_seconds(requested_at)):
            return self._older("the provider has not responded to another request yet")
        try:
            if self._found is not None and self._valid_until > requested_at + VALID_SECONDS:
                # Fetched while this request waited.
                return self._found
            if time.monotonic() < self._failed_until:
                return self._older("the provider did not respond a moment ago")
            return self._fetched()
        finally:
            self._lock.release()

    def _wait_seconds(self, now: float) -> float:
        return max(0.0, self._started + FETCH_SECONDS - now) if self._lock.locked() else FETCH_SECONDS

    def _fetched(self) -> dict[str, Any]:
        self._started = time.monotonic()
        try:
            self._found = _fetch(self.url)
        except (requests.RequestException, OSError, ValueError) as error:
            self._failed_until = time.monotonic() + FAILED_SECONDS
            return self._older(f"{type(error).__name__}: {error}")
        self._valid_until = time.monotonic() + VALID_SECONDS
        return self._found

    def _older(self, why: str) -> dict[str, Any]:
        if self._found is None:
            raise DocumentUnavailable(f"{self.url}: {why}")
        return self._found


class LimitedAdapter(HTTPAdapter):
    """Gives the responses to all requests of a client the limits of documents. A redirect is refused: it would send the client's secret and
    the user's code elsewhere.
    """

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:  # type: ignore[override,unused-ignore]
        """The complete response. Raises `requests.RequestException`, `OSError` or `ValueError`."""
        deadline = time.monotonic() + FETCH_SECONDS
        response = super().send(request, **{**options, "stream": True, "timeout": FETCH_SECONDS})
        with response:
            if response.is_redirect:
                raise requests.TooManyRedirects(f"{response.status_code} of {urlsplit(request.url or '').hostname!s}")
            response._content = _read(response, deadline)  # noqa: SLF001 -- as `Response.content` stores it
        response._content_consumed = True  # type: ignore[attr-defined,unused-ignore]  # noqa: SLF001
        return response


def _fetch(url: str) -> dict[str, Any]:
    deadline = time.monotonic() + FETCH_SECONDS
    with requests.get(url, stream=True, timeout=FETCH_SECONDS, headers={"Accept": "application/json"}) as response:
        response.raise_for_status()
        document = json.loads(_read(response, deadline))
    if not isinstance(document, dict):
        raise ValueError("the document is not a JSON object")  # noqa: TRY004 -- a wrong document, not a wrong call
    return document


def _read(response: requests.Response, deadline: float) -> bytes:
    body = bytearray()
    # read1 returns what has arrived, so that a document that trickles in meets the deadline.
    while data := response.raw.read1(_READ_BYTES, decode_content=True):
        body += data
        if len(body) > DOCUMENT_BYTES:
            raise ValueError(f"the document has more than {DOCUMENT_BYTES:,} bytes")
        if time.monotonic() > deadline:
            raise TimeoutError(f"the document took more than {FETCH_SECONDS:g} s")
    return bytes(body)
