"""A session's WebSocket, through a real uvicorn and a real Redis."""

from __future__ import annotations

import dataclasses
import itertools
import json
import time
from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from schedviz.sessions import frames
from schedviz.sessions.metrics import process as process_metrics
from schedviz.sessions.models import Command, Membership, Session
from schedviz.web.accounts.models import DemoSession, Visitor
from schedviz.web.live import catch_up, connection
from schedviz.web.live import feed as feed_module
from tests.conftest import until
from tests.web.conftest import make_session

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_view_comes_first_then_frames(viewer, people, commits):
    commits.chunk(events=3)

    with viewer(people) as socket:
        first = socket.receive()
        commits.chunk(events=2)
        frame = socket.receive_until("frame")

    assert (first["type"], first["chunk"], first["event"]) == ("view", 1, 3)
    assert first["session"]["id"] == str(people.session.pk)
    assert (frame["firstChunk"], frame["chunk"], frame["event"]) == (2, 2, 5)
    assert [event["event"] for event in frame["events"]] == [4, 5]


def test_frames_keep_their_order_and_are_gathered(viewer, people, commits):
    with viewer(people) as socket:
        socket.receive_until("status")
        for _ in range(60):
            commits.chunk()
        seen = []
        while not seen or seen[-1]["chunk"] < 60:
            seen.append(socket.receive_until("frame"))

    assert [event["event"] for frame in seen for event in frame["events"]] == list(range(1, 61))
    assert all(later["firstChunk"] == earlier["chunk"] + 1 for earlier, later in itertools.pairwise(seen))
    assert len(seen) < 60


def test_from_resumes_after_that_chunk(viewer, people, commits):
    for _ in range(5):
        commits.chunk()

    with viewer(people, query="?from=3") as socket:
        frames = [socket.receive(), socket.receive()]
        commits.chunk()
        following = socket.receive_until("frame")

    assert [(frame["type"], frame["firstChunk"], frame["chunk"]) for frame in frames] == [("frame", 4, 4), ("frame", 5, 5)]
    assert following["firstChunk"] == 6


def test_viewers_that_resume_together_share_the_reads(viewer, people, commits, monkeypatch):
    for _ in range(40):
        commits.chunk(events=2)
    read: list[int] = []
    one = catch_up._read
    monkeypatch.setattr(catch_up, "_read", lambda session_id, number, known: read.append(number) or one(session_id, number, known))

    received = []
    for after in (0, 0, 7, 20, 39):
        with viewer(people, query=f"?from={after}") as socket:
            frames = [socket.receive_until("frame")]
            while frames[-1]["chunk"] < 40:
                frames.append(socket.receive_until("frame"))
        received.append(frames)
        assert [event["event"] for frame in frames for event in frame["events"]] == list(range(2 * after + 1, 81))
        assert all(later["firstChunk"] == earlier["chunk"] + 1 for earlier, later in itertools.pairwise(frames))

    assert read == [0, 1, 2], "groups of 16 chunks, each read once"
    # Two whole groups, and the single frames of the last one.
    assert [(frame["firstChunk"], frame["chunk"]) for frame in received[0]][:3] == [(1, 16), (17, 32), (33, 33)]


def test_a_resume_counts_as_ten_messages(viewer, people, commits, monkeypatch):
    monkeypatch.setattr(settings, "SOCKET_COMMANDS_PER_SECOND", 0)
    monkeypatch.setattr(settings, "SOCKET_COMMANDS_AT_ONCE", 15)
    commits.chunk()
    with viewer(people) as socket:
        socket.receive_until("status")
        socket.send({"type": "resume", "from": 0})
        socket.receive_until("frame")
        socket.send({"type": "resume", "from": 0})
        assert socket.receive_until("error")["code"] == "too_many_requests"


def test_resuming_from_a_chunk_that_does_not_exist_gets_a_gap_and_the_view(viewer, people, commits):
    commits.chunk()

    with viewer(people, query="?from=99") as socket:
        assert socket.receive() == {"type": "gap", "expected": 100, "found": 1}
        view = socket.receive()
    assert (view["type"], view["chunk"]) == ("view", 1)


def test_a_viewer_that_joins_during_a_run_gets_a_recent_view_and_the_frames_since(viewer, people, commits):
    commits.chunk()
    with viewer(people) as first:
        first.receive_until("status")
        for _ in range(10):
            commits.chunk()
        while first.receive_until("frame")["chunk"] < 11:
            pass
        with viewer(people) as second:
            view, frames, status = second.receive(), [second.receive() for _ in range(10)], second.receive()

    assert (view["type"], view["chunk"]) == ("view", 1)
    assert [(frame["type"], frame["chunk"]) for frame in frames] == [("frame", chunk) for chunk in range(2, 12)]
    assert status["session"]["event"] == 11


def test_resume_requests_what_came_after_a_chunk(viewer, people, commits):
    for _ in range(3):
        commits.chunk()
    with viewer(people) as socket:
        socket.receive_until("status")

        socket.send({"type": "resume", "from": 1})

        assert socket.receive_until("frame")["firstChunk"] == 2


def test_events_missing_in_redis_are_read_from_the_database(viewer, people, commits):
    with viewer(people) as socket:
        socket.receive_until("status")
        commits.chunk(publish=False)
        commits.chunk(publish=False)
        commits.chunk()
        seen = [socket.receive_until("frame")]
        while seen[-1]["chunk"] < 3:
            seen.append(socket.receive_until("frame"))

    assert [event["event"] for frame in seen for event in frame["events"]] == [1, 2, 3]


def test_viewers_get_new_frames_while_redis_is_down(viewer, people, commits, redis):
    with viewer(people) as socket:
        socket.receive_until("status")
        redis.kill()
        try:
            commits.chunk()
            assert socket.receive_until("frame", 5)["chunk"] == 1
        finally:
            redis.start()
        commits.chunk()
        assert socket.receive_until("frame", 5)["chunk"] == 2


def test_a_slow_viewer_gets_the_view_and_does_not_delay_others(viewer, people, commits, monkeypatch):
    monkeypatch.setattr(settings, "VIEWER_QUEUE_BYTES", 200_000)
    with viewer(people, buffer_bytes=100_000) as slow, viewer(people) as quick:
        slow.receive_until("status")
        quick.receive_until("status")
        got, overflows = 0, process_metrics.OVERFLOWS._value.get()
        # The slow client's and the sender's buffers hold several megabytes.
        while process_metrics.OVERFLOWS._value.get() == overflows:
            assert got < 200
            commits.chunk(padding=1_000_000)
            while got < commits.session.chunk:
                frame = quick.receive_until("frame")
                assert frame["firstChunk"] == got + 1
                got = frame["chunk"]
        seen, chunk = [], 0
        while chunk < got:
            message = slow.receive()
            seen.append(message)
            if message["type"] == "frame":
                assert message["firstChunk"] == chunk + 1
            if message["type"] == "gap":
                assert message["expected"] == chunk + 1
            # A heartbeat has the number of the newest chunk, too.
            if message["type"] in {"view", "frame"}:
                chunk = message["chunk"]

    gaps = [number for number, message in enumerate(seen) if message["type"] == "gap"]
    assert gaps
    for view in (seen[number + 1] for number in gaps):
        assert view["type"] == "view"
    assert [seen[number]["found"] for number in gaps] == [seen[number + 1]["chunk"] for number in gaps]


def test_an_idle_socket_stays_open(viewer, people, commits):
    with viewer(people) as socket:
        socket.receive_until("status")
        with pytest.raises(TimeoutError):
            socket.receive(7)

        commits.chunk()

        assert socket.receive_until("frame")["chunk"] == 1


def test_a_heartbeat_says_where_the_session_is(viewer, people, commits, monkeypatch):
    monkeypatch.setattr(connection, "HEARTBEAT_SECONDS", 0.2)
    commits.chunk(events=4)

    with viewer(people) as socket:
        assert socket.receive_until("heartbeat") == {"type": "heartbeat", "chunk": 1, "event": 4}


def test_a_command_is_acknowledged_and_its_key_counts_once(viewer, people, commits):
    message = {"type": "command", "key": "k1", "command": {"op": "step", "unit": "cycle"}}

    with viewer(people) as socket:
        socket.send(message)
        first = socket.receive_until("ack")
        socket.send(message)
        second = socket.receive_until("ack")

    assert first == second == {"type": "ack", "key": "k1", "seq": 1}
    assert Command.objects.count() == 1


def test_an_outcome_is_sent_after_the_frame_that_led_to_it(viewer, people, commits):
    with viewer(people) as socket:
        socket.receive_until("status")
        commits.chunk()
        commits.note(frames.outcome(1, {"result": "nothing to do"}))

        kinds = [socket.receive()["type"], socket.receive()["type"]]

    assert kinds == ["frame", "outcome"]


def test_the_end_of_an_import_brings_a_view(viewer, people, commits):
    Session.objects.update(status="importing")
    with viewer(people) as socket:
        socket.receive_until("status")
        Session.objects.update(status="ready")
        commits.session.refresh_from_db()
        commits.note(frames.status(frames.session_state(commits.session)))

        assert socket.receive()["type"] in {"view", "status"}
        commits.chunk()
        assert socket.receive_until("frame")["chunk"] == 1


@pytest.mark.parametrize(
    ("sent", "code", "key"),
    [
        ("{", "bad_json", None),
        (b"\x00", "bad_message", None),
        ('{"type":"dance"}', "invalid", None),
        ('{"type":"command","command":{"op":"pause"}}', "invalid", None),
        ('{"type":"command","key":"k","command":{"op":"fly"}}', "invalid", "k"),
        ('{"type":"command","key":"k","command":{"op":"run","max":"many"}}', "invalid", "k"),
        ('{"type":"command","key":"k","command":{"op":"pause"},"extra":1}', "invalid", "k"),
        ('{"type":"resume","from":-1}', "invalid", None),
        ('{"type":"command","key":"k","command":{"op":' + "[" * 5000, "bad_json", None),
        ('{"type":"command","key":"k","command":{"op":"configure","config":{"a":' + "[" * 600 + "]" * 600 + "}}}", "invalid", "k"),
    ],
)
def test_a_bad_message_gets_an_error_and_the_socket_stays_open(viewer, people, commits, sent, code, key):
    with viewer(people) as socket:
        socket.send(sent)
        error = socket.receive_until("error")
        socket.send({"type": "ping"})

        assert socket.receive_until("pong") == {"type": "pong"}
    assert error["code"] == code
    assert error.get("key") == key
    assert Command.objects.count() == 0


def test_the_size_of_a_message_is_its_bytes(viewer, people, commits, monkeypatch):
    monkeypatch.setattr(settings, "SOCKET_MESSAGE_BYTES", 100)
    with viewer(people) as socket:
        socket.receive_until("status")
        socket.raw.send(f'"{"节" * 33}"')
        assert socket.receive_until("error")["code"] == "too_large"
        socket.raw.send(f'"{"n" * 33}"')
        assert socket.receive_until("error")["code"] == "invalid"


def test_an_oversized_message_closes_the_socket(viewer, people, commits):
    with viewer(people) as socket:
        socket.send(json.dumps({"type": "ping", "padding": "x" * 70_000}))
        with pytest.raises(ConnectionClosed) as closed:
            socket.receive_until("never")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009


def test_a_flood_of_commands_gets_errors_and_is_not_stored(viewer, people, commits, monkeypatch):
    monkeypatch.setattr(settings, "SOCKET_COMMANDS_AT_ONCE", 5)
    monkeypatch.setattr(settings, "SOCKET_COMMANDS_PER_SECOND", 1)

    with viewer(people) as socket:
        for number in range(12):
            socket.send({"type": "command", "key": f"k{number}", "command": {"op": "cycle"}})
        refused = socket.receive_until("error")

    assert refused["code"] == "too_many_requests"
    assert refused["key"].startswith("k")
    assert Command.objects.count() < 8


CONNECTING = {
    "owner": "command",
    "owner-token": "command",
    "owner-read-token": "see",
    "editor": "command",
    "viewer": "see",
    "link": "see",
    "editor-link": "command",
    "revoked-link": "",
    "stranger": "",
    "stranger-token": "",
    "anonymous": "",
}


@pytest.mark.parametrize("role", CONNECTING)
def test_each_role_may_read_or_send_commands_as_over_rest(viewer, people, commits, role):
    level = CONNECTING[role]
    headers = {"Origin": "http://127.0.0.1"} if role == "anonymous" else {}
    if not level:
        with pytest.raises(InvalidStatus) as refused:
            viewer(people, role, **headers)
        assert refused.value.response.status_code == (403 if role == "anonymous" else 404)
        return

    with viewer(people, role) as socket:
        socket.send({"type": "command", "key": "k", "command": {"op": "pause"}})
        socket.send({"type": "ping"})
        kinds = set()
        while "pong" not in kinds:
            kinds.add(socket.receive()["type"])

    assert ("ack" in kinds) == (level == "command")
    assert ("error" in kinds) == (level == "see")
    assert Command.objects.count() == (level == "command")


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:1", "null", "", "http://[", "http://[x]:1"])
def test_a_cross_origin_page_is_refused_although_its_browser_has_the_cookie(viewer, people, commits, origin):
    with pytest.raises(InvalidStatus) as refused:
        viewer(people, "owner", Origin=origin)
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize("other", ["a=\xff\xfe", "{}", "=", 'a="', "a b=c", "a=b;;;"])
def test_malformed_cookies_of_other_sites_of_the_host_do_not_matter(viewer, people, commits, other):
    client = people.client("owner")
    cookies = "; ".join([other, *(f"{name}={morsel.value}" for name, morsel in client.cookies.items())])

    with viewer(people, "owner", Cookie=cookies) as socket:
        assert socket.receive()["type"] == "view"


def test_an_unknown_path_is_refused_with_a_problem(web_server):
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://{web_server.netloc}/ws/v1/nothing/", legacy=True)

    assert refused.value.response.status_code == 404
    assert json.loads(refused.value.response.body)["detail"] == "There is no WebSocket at this address."


@pytest.mark.parametrize("header", ["Bearer wrong", "Basic eDp5", "Bearer"])
def test_a_wrong_token_is_refused(viewer, people, commits, header):
    with pytest.raises(InvalidStatus) as refused:
        viewer(people, "owner", Authorization=header)
    assert refused.value.response.status_code in {401, 404}


def test_sockets_opened_together_check_their_permissions_at_different_times():
    moments = [connection.random_last_check() for _ in range(200)]

    assert len({int(moment) for moment in moments}) > connection.RECHECK_SECONDS / 2
    assert max(moments) <= time.monotonic()
    assert min(moments) >= time.monotonic() - connection.RECHECK_SECONDS - 1


def test_a_revoked_permission_ends_commands_at_once_and_reading_soon(viewer, people, commits, monkeypatch):
    monkeypatch.setattr(connection, "HEARTBEAT_SECONDS", 0.1)
    monkeypatch.setattr(connection, "RECHECK_SECONDS", 2.0)
    with viewer(people, "editor-token") as socket:
        Membership.objects.all().delete()
        socket.send({"type": "command", "key": "k", "command": {"op": "pause"}})
        assert socket.receive_until("error")["code"] == "forbidden"

        with pytest.raises(ConnectionClosed) as closed:
            socket.receive_until("never")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4403


def test_deleting_a_session_closes_its_sockets(viewer, people, commits, monkeypatch):
    monkeypatch.setattr(feed_module, "SILENCE_MILLISECONDS", 200)
    with viewer(people) as socket:
        socket.receive_until("status")
        people.client("owner-token").delete(f"/api/v1/sessions/{people.session.pk}/")

        with pytest.raises(ConnectionClosed) as closed:
            socket.receive_until("never")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4404


def test_the_sockets_of_a_session_are_limited(viewer, people, commits, monkeypatch):
    monkeypatch.setattr(settings, "SOCKETS_PER_SESSION", 1)
    with viewer(people) as socket:
        socket.receive()
        with pytest.raises(InvalidStatus) as refused:
            viewer(people)
    assert refused.value.response.status_code == 503


def test_one_user_cannot_take_all_sockets_of_a_session(viewer, people, commits, monkeypatch):
    monkeypatch.setattr(settings, "SOCKETS_PER_VIEWER", 2)
    with viewer(people), viewer(people) as second:
        with pytest.raises(InvalidStatus) as refused:
            viewer(people)
        with viewer(people, "editor-token") as socket:
            socket.receive_until("status")
        second.receive_until("status")
    assert refused.value.response.status_code == 503
    assert b"SCHEDVIZ_SOCKETS_PER_VIEWER" in refused.value.response.body


def test_one_user_cannot_take_all_sockets_of_a_server(viewer, people, commits, monkeypatch):
    monkeypatch.setattr(settings, "SOCKETS_PER_VIEWER", 2)
    monkeypatch.setattr(settings, "SOCKETS", 12)
    elsewhere = dataclasses.replace(people, session=make_session(people.owner, "another one"))
    held = [viewer(people), viewer(people), viewer(elsewhere)]
    with pytest.raises(InvalidStatus) as refused:
        viewer(elsewhere)

    assert b"SCHEDVIZ_SOCKETS_PER_VIEWER, or a quarter of SCHEDVIZ_SOCKETS if that is more" in refused.value.response.body
    with viewer(people, "editor-token") as socket:
        socket.receive_until("status")
    held.pop().raw.close()
    until(lambda: _joins(viewer, elsewhere, "owner-token"))


def test_holders_of_a_share_link_leave_sockets_for_the_owner(viewer, people, commits, monkeypatch):
    monkeypatch.setattr(settings, "SOCKETS_PER_SESSION", 5)
    held = [viewer(people, "link") for _ in range(4)]
    with pytest.raises(InvalidStatus) as refused:
        viewer(people, "editor-link")

    with viewer(people, "owner-token") as socket:
        socket.receive_until("status")
    assert b"reserved for signed-in users" in refused.value.response.body
    held.pop().raw.close()
    until(lambda: _joins(viewer, people, "editor-link"))


def _joins(viewer, people, role: str) -> bool:
    try:
        viewer(people, role)
    except InvalidStatus:
        return False
    return True


def test_a_frame_after_a_pause_is_sent_at_once(viewer, people, commits):
    with viewer(people) as socket:
        socket.receive_until("status")
        delays = []
        for _ in range(20):
            time.sleep(0.1)
            commits.chunk()
            began = time.monotonic()
            socket.receive_until("frame")
            delays.append(time.monotonic() - began)

    assert sorted(delays)[10] < 0.03


@pytest.mark.parametrize("message", ["[" * 50_000, "[]", "5", "{}", '{"type":"fly"}', '{"type":"command","type":"ping"}'])
def test_an_invalid_message_is_refused_and_the_socket_stays_open(viewer, people, message):
    with viewer(people) as socket:
        socket.send(message)
        refused = socket.receive_until("error")
        socket.send({"type": "ping"})
        socket.receive_until("pong")

    assert refused["code"] in ("invalid", "bad_json")
    assert refused["message"]


def test_a_share_link_is_sent_as_a_subprotocol_and_the_servers_own_is_accepted(web_server, people):
    people.make_link("link")
    url = f"ws://{web_server.netloc}/ws/v1/sessions/{people.session.pk}/"

    with connect(url, subprotocols=["v1.schedviz", "link.schedviz.secret-link"]) as socket:
        assert socket.subprotocol == "v1.schedviz"
        assert socket.recv(timeout=10)
    with pytest.raises(InvalidStatus) as refused:
        connect(url, subprotocols=["v1.schedviz", "link.schedviz.another"])

    assert refused.value.response.status_code == 404


def test_anonymous_clients_and_visitors_of_one_address_leave_places_for_others(web_server, people, viewer, commits, monkeypatch):
    for name, value in (("PUBLIC_DEMO", True), ("PROXIES", 1), ("SOCKETS_PER_VIEWER", 2)):
        monkeypatch.setattr(settings, name, value)
    DemoSession.objects.create(session=people.session)
    Visitor.objects.create(user=people.stranger, expires_at=timezone.now() + timedelta(hours=1), network="a digest")
    origin = f"http://{web_server.netloc}"
    here, there = ({"X-Forwarded-For": address, "Origin": origin} for address in ("192.0.2.7", "192.0.2.8"))

    for _ in range(3):
        viewer(people, "anonymous", **here)
    viewer(people, "stranger-token", **here)
    for role in ("anonymous", "stranger-token"):
        with pytest.raises(InvalidStatus) as refused:
            viewer(people, role, **here)
        assert b"from your address" in refused.value.response.body
    viewer(people, "anonymous", **there)
    # Users with an account do not count among them.
    viewer(people, "owner-token", **here)
