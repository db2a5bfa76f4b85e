"""Rooms over WebSockets: the teacher's position, presence, reconnecting."""

from __future__ import annotations

import contextlib
import json
import zlib
from threading import Event, Lock

import jsonschema
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from jsonschema.validators import Draft202012Validator
from websockets.exceptions import ConnectionClosed, InvalidStatus

from schedviz.sessions.redis import stream
from schedviz.web import wire_schema
from schedviz.web.auth.login import make_token
from schedviz.web.live import connection
from schedviz.web.live.close_codes import CloseCode
from schedviz.web.models import Token
from schedviz.web.rooms import notify, presence
from schedviz.web.rooms.models import Participant, Room
from tests.conftest import until
from tests.rooms.conftest import Classroom, Person, open_classroom
from tests.web.conftest import Commits, make_session

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def classroom(web_server, classroom) -> Classroom:
    """The room, after the web server has started."""
    return classroom


def at(classroom: Classroom, event: int, **members: object) -> dict[str, object]:
    return {"session": str(classroom.session.pk), "at": event, **members}


def test_each_role_gets_the_part_of_the_room_that_it_may_see(classroom, line):
    ada = classroom.student("Ada")

    taught = line(classroom.teacher).room()
    seen = line(ada).room(lambda room: room["here"] == 1)

    assert taught["participants"][0]["nickname"] == "Ada"
    assert (seen["role"], seen["participants"], seen["you"]["nickname"]) == ("participant", None, "Ada")
    assert seen == ada.request("get") | {"link": seen["link"]}


def test_room_messages_match_the_wire_schema(classroom, line):
    schema = wire_schema.wire_schema()
    to_client, to_server = ({**schema, "oneOf": [{"$ref": f"#/$defs/RoomTo{side}"}]} for side in ("Client", "Server"))
    teacher, ada = line(classroom.teacher), line(classroom.student("Ada"))
    sent = [
        {"type": "moment", "moment": at(classroom, 2, page={"rows": "12"})},
        {"type": "following", "following": False},
        {"type": "ping"},
    ]

    for message in sent:
        jsonschema.validate(message, to_server, Draft202012Validator)
        teacher.send(**message)
    received = {**_first_of_each(ada, {"room", "moment"}), **_first_of_each(teacher, {"error", "pong"})}

    for message in received.values():
        jsonschema.validate(message, to_client, Draft202012Validator)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"type": "moment", "moment": {"session": 1}}, to_server, Draft202012Validator)


def _first_of_each(person, types: set[str]) -> dict[str, dict]:
    """The first message of each type, in any order of arrival."""
    results: dict[str, dict] = {}
    while types - results.keys():
        message = person.until(lambda message: message["type"] in types)
        results.setdefault(message["type"], message)
    return results


def test_participants_follow_the_teacher_even_if_they_join_later(classroom, line):
    teacher, ada = line(classroom.teacher), line(classroom.student("Ada"))
    ada.room()

    teacher.send(type="moment", moment=at(classroom, 2, select="pod:default/web-7", zoom=1.5, page={"rows": "12"}))

    moment = ada.moment()
    assert (moment["at"], moment["select"], moment["zoom"], moment["page"]) == (2, "pod:default/web-7", 1.5, {"rows": "12"})
    # The teacher's other windows get it too.
    assert teacher.moment() == moment
    assert line(classroom.student("Bob")).room()["moment"] == moment


def test_the_newest_moment_wins_and_is_stored(classroom, line):
    teacher, ada = line(classroom.teacher), line(classroom.student("Ada"))
    ada.room()

    for event in range(40):
        teacher.send(type="moment", moment=at(classroom, event))

    received = [ada.moment()]
    while received[-1]["at"] != 39:
        received.append(ada.moment())
    assert len(received) < 40
    assert until(lambda: (Room.objects.get().moment or {}).get("at") == 39)


def test_a_participant_cannot_change_the_rooms_moment(classroom, line):
    ada = line(classroom.student("Ada"))

    ada.send(type="moment", moment=at(classroom, 2))

    assert ada.until(lambda message: message["type"] == "error")["code"] == "forbidden"


def test_text_that_postgresql_cannot_store_is_refused(classroom, line):
    teacher = line(classroom.teacher)

    teacher.send(type="moment", moment=at(classroom, 2, tab="a\0b"))

    assert "U+0000" in teacher.until(lambda message: message["type"] == "error")["message"]


def test_a_read_only_token_of_the_teacher_cannot_move_the_room(classroom, line):
    reader = line(classroom.teacher, token=make_token(classroom.user, "reading", scope="read"))
    writer = line(classroom.teacher, token=make_token(classroom.user, "writing"))

    reader.send(type="moment", moment=at(classroom, 2))
    assert reader.until(lambda message: message["type"] in ("error", "moment"))["code"] == "forbidden"

    writer.send(type="moment", moment=at(classroom, 3))
    assert reader.moment()["at"] == 3


def test_a_revoked_token_of_the_teacher_can_no_longer_move_the_room(classroom, line):
    ada = line(classroom.student("Ada"))
    ada.room()
    revoked = line(classroom.teacher, token=make_token(classroom.user, "revoked"))
    writer = line(classroom.teacher, token=make_token(classroom.user, "writing"))
    revoked.room()

    Token.objects.get(name="revoked").delete()
    revoked.send(type="moment", moment=at(classroom, 2))
    assert revoked.close_code() == CloseCode.FORBIDDEN

    writer.send(type="moment", moment=at(classroom, 3))
    assert ada.moment()["at"] == 3


def test_participants_have_a_limited_number_of_sockets_and_cannot_lock_out_the_teacher(classroom, line, monkeypatch):
    monkeypatch.setattr(settings, "SOCKETS_PER_VIEWER", 2)
    monkeypatch.setattr(settings, "SOCKETS_PER_SESSION", 3)
    ada, bob = classroom.student("Ada"), classroom.student("Bob")
    for person in (ada, ada, bob):
        line(person).room()

    for person, limit in ((ada, "SCHEDVIZ_SOCKETS_PER_VIEWER"), (bob, "SCHEDVIZ_SOCKETS_PER_SESSION")):
        with pytest.raises(InvalidStatus) as refused:
            line(person)
        assert refused.value.response.status_code == 503
        assert limit in json.loads(refused.value.response.body)["detail"]
    assert line(classroom.teacher).room()["role"] == "teacher"


def test_the_rooms_of_one_teacher_leave_sockets_for_those_of_others(classroom, line, monkeypatch):
    monkeypatch.setattr(settings, "SOCKETS", 4)
    ada = classroom.student("Ada")
    for person in (classroom.teacher, ada):
        line(person).room()
    with pytest.raises(InvalidStatus) as refused:
        line(ada)
    assert "half of SCHEDVIZ_SOCKETS" in json.loads(refused.value.response.body)["detail"]

    colleague = User.objects.create_user("colleague")
    line(open_classroom(colleague, make_session(colleague, "theirs")).teacher).room()


def test_the_teacher_can_move_only_to_sessions_that_all_may_see(classroom, line):
    teacher = line(classroom.teacher)
    other = make_session(classroom.user, "another one")
    moment = {"session": str(other.pk), "at": None}

    teacher.send(type="moment", moment=moment)
    assert teacher.until(lambda message: message["type"] == "error")["code"] == "not_shown"

    classroom.teacher.request("post", "show/", {"session": str(other.pk)})
    # Received immediately, since the newest position is known.
    teacher.send(type="moment", moment=moment)
    # The position is part of the room message or, if that was sent before, a separate message.
    teacher.until(lambda message: ((message.get("room") or message).get("moment") or {}).get("session") == str(other.pk))
    assert classroom.look()["shown"]["session"] == str(other.pk)


@pytest.mark.parametrize("text", ["{", '{"type":"fly"}', '{"type":"moment","moment":{"session":"x","colour":1}}', "[]"])
def test_an_invalid_message_gets_an_error_and_the_connection_stays_open(classroom, line, text):
    teacher = line(classroom.teacher)

    teacher.raw.send(text)

    assert teacher.until(lambda message: message["type"] == "error")["code"] == "invalid"
    teacher.send(type="ping")
    teacher.until(lambda message: message["type"] == "pong")


def test_a_member_that_keeps_flooding_is_disconnected_and_the_others_stay(classroom, line, monkeypatch):
    monkeypatch.setattr(settings, "SOCKET_COMMANDS_AT_ONCE", 10)
    monkeypatch.setattr(settings, "SOCKET_COMMANDS_PER_SECOND", 1)
    monkeypatch.setattr(connection, "REFUSED_AT_ONCE", 5)
    monkeypatch.setattr(connection, "REFUSED_PER_SECOND", 0.001)
    teacher, ada = line(classroom.teacher), line(classroom.student("Ada"))

    with contextlib.suppress(ConnectionClosed):
        for _ in range(20):
            ada.send(type="ping")
    assert ada.until(lambda message: message["type"] == "error")["code"] == "too_many_requests"
    assert ada.close_code() == CloseCode.FLOOD

    teacher.send(type="ping")
    teacher.until(lambda message: message["type"] == "pong")


def test_a_binary_message_gets_an_error(classroom, line):
    teacher = line(classroom.teacher)
    teacher.raw.send(b"{}")
    assert teacher.until(lambda message: message["type"] == "error")["code"] == "bad_message"


def test_the_teacher_sees_joins_follows_raised_hands_and_leaves(classroom, line):
    ada = classroom.student("Ada")
    teacher = line(classroom.teacher)
    teacher.room(lambda room: room["here"] == 0)

    opened = line(ada)
    teacher.room(lambda room: room["here"] == 1 and room["participants"][0]["here"])
    opened.send(type="following", following=False)
    teacher.room(lambda room: not room["participants"][0]["following"])
    ada.request("post", "hand/", {"raised": True})
    teacher.room(lambda room: room["participants"][0]["hand"])
    opened.raw.close()
    teacher.room(lambda room: room["here"] == 0)


def test_a_participant_is_the_same_after_a_reconnect_and_in_two_windows(classroom, line):
    ada = classroom.student("Ada")
    teacher = line(classroom.teacher)
    first, second = line(ada), line(ada)
    you = first.room()["you"]
    assert second.room()["you"] == you
    teacher.room(lambda room: room["here"] == 1)

    first.raw.close()
    ada.request("post", "hand/", {"raised": True})
    assert teacher.room(lambda room: room["participants"][0]["hand"])["here"] == 1
    second.raw.close()
    teacher.room(lambda room: room["here"] == 0)

    assert line(ada).room()["you"] == you | {"hand": True}


def test_messages_of_participants_leave_threads_to_others(classroom, line, monkeypatch):
    end, lock, at_a_time, running = Event(), Lock(), [], set()

    def follow(participant_id: int, *, following: bool) -> None:
        with lock:
            running.add(participant_id)
            at_a_time.append(len(running))
        end.wait(30)
        with lock:
            running.remove(participant_id)

    monkeypatch.setattr(presence, "follow", follow)
    teacher, *participants = (line(person) for person in (classroom.teacher, *(classroom.student(f"student {n}") for n in range(4))))
    try:
        for participant in participants:
            participant.room()
            participant.send(type="following", following=False)
        teacher.send(type="moment", moment=at(classroom, 2))
        assert teacher.moment()["at"] == 2
    finally:
        end.set()

    assert until(lambda: len(at_a_time) == 4)
    assert max(at_a_time) == 2


def test_a_question_is_sent_to_all_and_its_tally_only_to_the_teacher_until_revealed(classroom, line):
    ada = classroom.student("Ada")
    teacher, opened = line(classroom.teacher), line(ada)
    classroom.teacher.request("post", "questions/", {"text": "Where?", "kind": "node"}, expect=201)
    opened.room(lambda room: room["questions"])

    ada.request("post", "answers/", {"question": 1, "value": "node-a"})

    teacher.room(lambda room: room["questions"] and room["questions"][0]["tally"] == [{"value": "node-a", "count": 1}])
    assert opened.room(lambda room: room["questions"][0]["answered"] == 1)["questions"][0]["tally"] is None
    classroom.teacher.request("patch", "questions/1/", {"revealed": True})
    opened.room(lambda room: room["questions"][0]["tally"])


def test_a_removed_participant_is_disconnected_and_the_others_stay(classroom, line):
    ada, bob = classroom.student("Ada"), classroom.student("Bob")
    opened, other = line(ada), line(bob)
    you = opened.room()["you"]["id"]

    classroom.teacher.request("delete", f"participants/{you}/", expect=204)

    assert opened.close_code() == 4403
    other.room(lambda room: room["count"] == 1)


@pytest.mark.parametrize("keep", [True, False])
def test_ending_a_room_closes_every_socket(classroom, line, keep):
    teacher, ada = line(classroom.teacher), line(classroom.student("Ada"))
    ada.room()

    classroom.teacher.request("post", "end/", {"keep": keep})

    assert ada.close_code() == 4410
    assert teacher.room(lambda room: room["status"] == "ended")["kept"] is keep
    assert teacher.close_code() == 4410
    with pytest.raises(InvalidStatus) as refused:
        line(classroom.students["Ada"])
    assert refused.value.response.status_code == 404


def test_deleting_a_room_closes_every_socket(classroom, line):
    ada = line(classroom.student("Ada"))
    ada.room()

    classroom.teacher.request("delete", expect=204)

    assert ada.close_code() in (4404, 4410)


def test_a_client_without_access_is_refused_before_the_connection_opens(classroom, line):
    from rest_framework.test import APIClient

    with pytest.raises(InvalidStatus) as refused:
        line(Person(APIClient(), classroom.id))

    assert refused.value.response.status_code == 404


def test_a_participant_gets_the_frames_of_the_session(classroom, line):
    ada = classroom.student("Ada")
    opened = line(ada, f"sessions/{classroom.session.pk}/")
    first = json.loads(zlib.decompress(opened.raw.recv(timeout=10)))
    assert (first["type"], first["event"]) == ("view", 3)

    Commits(classroom.session).chunk(events=2)

    data = opened.raw.recv(timeout=10)
    while isinstance(data, str):
        data = opened.raw.recv(timeout=10)
    assert json.loads(zlib.decompress(data))["event"] == 5
    opened.send(type="command", key="k", command={"op": "pause"})
    assert opened.until(lambda message: message["type"] == "error")["code"] == "forbidden"


def test_while_redis_is_down_the_room_is_read_from_the_database(classroom, line, redis_server):
    ada = classroom.student("Ada")
    teacher, opened = line(classroom.teacher), line(ada)
    opened.room()
    redis_server.kill()
    try:
        ada.request("post", "hand/", {"raised": True})
        teacher.room(lambda room: room["participants"][0]["hand"])
        teacher.send(type="moment", moment=at(classroom, 2))
        assert opened.moment()["at"] == 2
    finally:
        redis_server.start()
    stream.client().ping()


def test_a_lost_wakeup_is_recovered(classroom, line, monkeypatch):
    ada = classroom.student("Ada")
    teacher = line(classroom.teacher)
    teacher.room()
    monkeypatch.setattr(notify, "key", lambda room_id: f"elsewhere:{room_id}")

    ada.request("post", "hand/", {"raised": True})

    teacher.room(lambda room: room["participants"][0]["hand"])


def test_participants_of_a_crashed_server_no_longer_count_as_present(classroom):
    classroom.student("Ada")
    presence.renew([Participant.objects.get().pk])
    assert classroom.look()["here"] == 1

    Participant.objects.update(here_until=1.0)

    assert classroom.look()["here"] == 0
