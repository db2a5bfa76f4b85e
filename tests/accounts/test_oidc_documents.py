"""The provider's documents: limits of size and time, and what happens while a provider fails."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from schedviz.web.accounts import oidc_documents
from schedviz.web.accounts.oidc_documents import Document, DocumentUnavailable


class _Provider:
    """Responds with `body`, or with an endless stream of bytes, and counts requests."""

    def __init__(self) -> None:
        self.body = b'{"issuer": "a"}'
        self.status = 200
        self.trickles = False
        self.requests = 0
        self.ends = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.requests += 1
                self.send_response(outer.status)
                self.end_headers()
                with contextlib.suppress(OSError):
                    while outer.trickles and not outer.ends.wait(0.05):
                        self.wfile.write(b" ")
                    self.wfile.write(outer.body)

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"


@pytest.fixture
def provider() -> Iterator[_Provider]:
    made = _Provider()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.ends.set()
    made.server.shutdown()
    made.server.server_close()
    thread.join()


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oidc_documents, "FETCH_SECONDS", 0.5)


def test_a_document_is_fetched_once(provider: _Provider) -> None:
    document = Document(provider.url)

    with ThreadPoolExecutor(8) as threads:
        assert all(found == {"issuer": "a"} for found in threads.map(lambda _: document.read(), range(8)))
    assert provider.requests == 1


def test_a_document_can_be_fetched_again(provider: _Provider) -> None:
    document = Document(provider.url)
    document.read()
    provider.body = b'{"issuer": "b"}'

    assert document.read() == {"issuer": "a"}
    assert document.read(refetch=True) == {"issuer": "b"}


@pytest.mark.parametrize("body", [b"[]", b"not JSON", b" " * (oidc_documents.DOCUMENT_BYTES + 1)], ids=["a list", "no JSON", "too large"])
def test_an_invalid_document_is_refused(provider: _Provider, body: bytes) -> None:
    provider.body = body

    with pytest.raises(DocumentUnavailable):
        Document(provider.url).read()


def test_fetching_a_document_that_trickles_in_is_aborted(provider: _Provider, hurried: None) -> None:
    provider.trickles = True

    with pytest.raises(DocumentUnavailable, match=r"took more than 0\.5 s"):
        Document(provider.url).read()


def test_a_failed_fetch_is_cached(provider: _Provider) -> None:
    provider.status = 500
    document = Document(provider.url)
    for _ in range(3):
        with pytest.raises(DocumentUnavailable):
            document.read()

    assert provider.requests == 1


def test_requests_that_wait_for_a_fetch_fail_with_it(provider: _Provider, hurried: None) -> None:
    provider.trickles = True
    document = Document(provider.url)

    def read(_: int) -> str:
        with pytest.raises(DocumentUnavailable) as refused:
            document.read()
        return str(refused.value)

    with ThreadPoolExecutor(16) as threads:
        assert len(list(threads.map(read, range(16)))) == 16
    assert provider.requests == 1


def test_an_older_document_is_used_while_the_provider_fails(provider: _Provider) -> None:
    document = Document(provider.url)
    document.read()
    provider.status = 500

    assert document.read(refetch=True) == {"issuer": "a"}
