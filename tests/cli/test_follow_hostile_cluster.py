"""`schedviz follow` and an API server that is broken or hostile: few requests, little memory, few messages."""

from __future__ import annotations

import json
import queue
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from schedviz.cli.follow import cluster_api, kubeconfig
from schedviz.cli.follow.cluster_api import ClusterApi
from schedviz.cli.follow.errors import Unavailable
from schedviz.cli.follow.following import Following
from schedviz.cli.follow.outage import Outage
from schedviz.cli.follow.pushing import Pusher
from schedviz.cli.follow.redaction import Redaction
from schedviz.cli.follow.reflector import Change, Reflector
from schedviz.cli.follow.scheduling_events import SCHEDULED, EventDecisions, EventWatch
from schedviz.cli.follow.throttled_printer import ThrottledPrinter
from schedviz.cli.follow.waiting_changes import MAX_WAITING, WaitingChanges
from schedviz.cli.rest_client import ServerResponse
from schedviz.kube.kinds import BY_NAME

BOOKMARK = b'{"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "7"}}}\n'
EMPTY_LIST = b'{"metadata": {"resourceVersion": "5"}, "items": []}'
GONE = b'{"type": "ERROR", "object": {"code": 410, "message": "too old resource version"}}\n'
EXPIRED_RESPONSE = (410, b'{"message": "too old resource version"}')


class Cluster:
    """An API server with the same response to each list, and to each watch."""

    def __init__(self, *, listed: bytes = EMPTY_LIST, watched: bytes = b"", watch_status: int = 200) -> None:
        self.watches = 0
        self.when_watched: Callable[[], None] = lambda: None
        cluster = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                is_watch = "watch=1" in self.path
                if is_watch:
                    cluster.watches += 1
                    cluster.when_watched()
                self.send_response(watch_status if is_watch else 200)
                self.end_headers()
                self.wfile.write(watched if is_watch else listed)

            def log_message(self, *_: object) -> None:
                pass

        self.handler = Handler


@contextmanager
def served(handler: type[BaseHTTPRequestHandler], certificates: Path | None = None) -> Iterator[ClusterApi]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        access = kubeconfig.Access(context="dev", server=f"http://127.0.0.1:{server.server_port}")
        if certificates is not None:
            tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            tls.load_cert_chain(certificates / "server.pem", certificates / "server.key")
            server.socket = tls.wrap_socket(server.socket, server_side=True)
            authority = (certificates / "ca.pem").read_bytes()
            access = replace(access, server=access.server.replace("http:", "https:"), authority=authority)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield ClusterApi(access)
        server.shutdown()


class Stop(threading.Event):
    """An event that is set after a number of pauses; the pauses take no time."""

    def __init__(self, pauses: int) -> None:
        super().__init__()
        self._left = pauses

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        assert timeout >= 0.4
        self._left -= 1
        if not self._left:
            self.set()
        return self.is_set()


def ends(cluster: Cluster, stop: Stop) -> None:
    """Set `stop` after very many watches."""

    def look() -> None:
        if cluster.watches > 100:
            stop.set()

    cluster.when_watched = look


ENDING_AT_ONCE = [(200, b""), (200, BOOKMARK), (200, GONE), EXPIRED_RESPONSE, (500, b""), (200, b"garbage\n")]


@pytest.mark.parametrize(("status", "watched"), ENDING_AT_ONCE)
def test_an_event_watch_that_ends_at_once_is_reopened_after_a_pause(status: int, watched: bytes) -> None:
    cluster, stop = Cluster(watched=watched, watch_status=status), Stop(pauses=5)
    ends(cluster, stop)
    with served(cluster.handler) as api:
        EventWatch(api, SCHEDULED, EventDecisions(lambda _: None), say=lambda _: None).run(stop)

    assert cluster.watches == 5


@pytest.mark.parametrize(("status", "watched"), ENDING_AT_ONCE)
def test_an_object_watch_that_ends_at_once_is_reopened_after_a_pause(status: int, watched: bytes) -> None:
    cluster, stop = Cluster(watched=watched, watch_status=status), Stop(pauses=5)
    ends(cluster, stop)
    with served(cluster.handler) as api:
        reflector = Reflector(api, BY_NAME["Node"], Redaction(), emit=lambda _: None, say=lambda _: None, outage=Outage(lambda _: None))
        reflector.run(stop)

    assert cluster.watches == 5


@pytest.mark.parametrize("member", ["continue", "resourceVersion"])
def test_list_metadata_too_long_for_a_url_is_refused(member: str) -> None:
    cluster = Cluster(listed=json.dumps({"metadata": {member: "9" * 200_000}, "items": []}).encode())
    with served(cluster.handler) as api, pytest.raises(Unavailable, match=rf"Expected `str` of length <= \d+ - at `\$.metadata.{member}`"):
        api.list(BY_NAME["Node"])


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("begin", "trickle"),
    [
        pytest.param(OK + b"X: ", b"a", id="headers"),
        pytest.param(b"", b"HTTP/1.1 100 Continue\r\n\r\n", id="continue"),
        pytest.param(OK + b"\r\n", b" ", id="body"),
        pytest.param(OK + b"Content-Length: 9999999\r\n\r\n", b" ", id="body of known length"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", id="chunks"),
    ],
)
@pytest.mark.parametrize("secure", [False, True])
def test_a_response_that_trickles_in_is_aborted(
    begin: bytes, trickle: bytes, *, secure: bool, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_api, "_RESPONSE_SECONDS", 0.5)
    ended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            try:
                self.wfile.write(begin)
                while not ended.wait(0.02):
                    self.wfile.write(trickle)
            except OSError:
                # The client has closed the connection.
                return

        def log_message(self, *_: object) -> None:
            pass

    with served(Handler, certificates if secure else None) as api:
        with pytest.raises(Unavailable, match=r"was not complete after 0.5 s"):
            api.list(BY_NAME["Node"])
        with pytest.raises(Unavailable, match=r"was not complete after 0.5 s"):
            list(api.watch(BY_NAME["Node"], "5"))
        ended.set()


class Limited:
    """A schedviz server with a limit on the bytes of a request."""

    address = "http://schedviz.example"

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.taken: list[list[str]] = []
        self.largest = 0

    def request(self, path: str, body: Any = None) -> ServerResponse:
        size = len(json.dumps(body))
        self.largest = max(self.largest, size)
        if size > self._limit:
            return ServerResponse(413, b'{"error": {"code": "too_large", "message": "The request is too large."}}', {})
        self.taken.append([event["object"]["metadata"]["name"] for event in body["events"]])
        return ServerResponse(201, b"{}", {})


def node(name: str, size: int) -> Change:
    metadata = {"name": name, "labels": {"large": "x" * size}}
    return Change("ADDED", {"apiVersion": "v1", "kind": "Node", "metadata": metadata}, "v", size=size)


def pusher_to(server: Limited) -> tuple[Pusher, list[str]]:
    messages: list[str] = []
    return Pusher(server, "an-id", "dev", say=messages.append, sleep=lambda _: None), messages  # type: ignore[arg-type]


def test_large_objects_are_pushed_in_batches_that_a_public_server_accepts() -> None:
    server = Limited(limit=4_000_000)
    pusher, messages = pusher_to(server)
    pusher.push([node(f"n{number}", 50_000) for number in range(200)])

    assert [name for names in server.taken for name in names] == [f"n{number}" for number in range(200)]
    assert server.largest < 2_300_000
    assert messages == []


def test_batches_that_are_too_large_are_split_and_a_single_object_that_is_too_large_is_skipped() -> None:
    server = Limited(limit=100_000)
    pusher, messages = pusher_to(server)
    pusher.push([node("a", 40_000), node("b", 40_000), node("huge", 200_000), node("c", 40_000)])

    assert [name for names in server.taken for name in names] == ["a", "b", "c"]
    assert pusher.left_out == 1
    assert messages == ["the server refuses an object, which is left out: The request is too large."]


def test_few_large_changes_fill_the_queue() -> None:
    waiting = WaitingChanges()
    for _ in range(60):
        waiting.put_nowait((0.0, node("n", 1 << 20)))
    for _ in range(20):
        waiting.put_nowait((0.0, node("small", 100)))
    with pytest.raises(queue.Full):
        waiting.put_nowait((0.0, node("small", 100)))

    for _ in range(80):
        waiting.get_nowait()
    with pytest.raises(queue.Empty):
        waiting.get_nowait()


def test_many_small_changes_fit_into_the_queue() -> None:
    waiting = WaitingChanges()
    for _ in range(MAX_WAITING):
        waiting.put_nowait((time.monotonic(), node("n", 1000)))
    with pytest.raises(queue.Full):
        waiting.put_nowait((time.monotonic(), node("n", 1000)))


def test_a_flood_of_messages_is_counted_instead_of_printed(capsys: pytest.CaptureFixture[str]) -> None:
    now = [1000.0]
    printer = ThrottledPrinter(clock=lambda: now[0])
    for number in range(10_000):
        printer.say(f"nodes: an object was left out: n{number}")
    now[0] += 31
    printer.say("all watches run again")

    printed = capsys.readouterr().err.splitlines()
    assert len(printed) == 32
    assert printed[-2:] == ["schedviz: 9,970 more messages were left out.", "schedviz: all watches run again"]


def test_messages_that_differ_only_in_numbers_are_throttled(capsys: pytest.CaptureFixture[str]) -> None:
    now = [1000.0]
    printer = ThrottledPrinter(clock=lambda: now[0])
    for number in (1008, 1100, 1019):
        printer.say(f"{number:,} commands are waiting, which is too many.")
    now[0] += 31
    printer.say("1,007 commands are waiting, which is too many.")

    assert [line.split()[1] for line in capsys.readouterr().err.splitlines()] == ["1,008", "1,007"]


def test_an_error_while_reading_decisions_is_reported_and_stops_nothing_else() -> None:
    class Broken:
        def run(self, _: threading.Event) -> None:
            raise KeyError("uid")

    pusher, messages = pusher_to(Limited(1))
    api = ClusterApi(kubeconfig.Access(context="dev", server="http://127.0.0.1:1"))
    following = Following(api, pusher, Redaction(), say=messages.append)
    following._read_evidence(Broken())  # type: ignore[arg-type]

    assert messages == [
        "times of decisions are no longer read, so more bindings stay undecided: this is a bug in schedviz (KeyError: 'uid')"
    ]
