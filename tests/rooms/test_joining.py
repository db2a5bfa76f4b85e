"""Joining a room needs only a code and a nickname."""

from __future__ import annotations

import time

import pytest
from django.conf import settings
from rest_framework.test import APIClient

from schedviz.web.rooms import join_throttle, joining, links
from schedviz.web.rooms.models import Participant, WrongCode
from tests.rooms.conftest import ROOMS, Person


def test_a_code_has_eight_unambiguous_characters():
    made = {links.new_code() for _ in range(200)}

    assert len(made) == 200
    assert all(len(code) == 8 and set(code) <= set(links.ALPHABET) for code in made)
    assert not set("0O1IL2Z5S8B") & set(links.ALPHABET) - set("258")


def test_participants_join_with_the_code_and_are_recognised_by_a_cookie(classroom):
    ada = Person(APIClient())

    room = ada.join(classroom.code, "Ada")

    assert room["role"] == "participant"
    assert room["you"]["nickname"] == "Ada"
    assert room["participants"] is None
    cookie = ada.client.cookies[settings.ROOM_GUEST_COOKIE]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert not cookie["secure"]
    assert Participant.objects.get().digest not in cookie.value
    assert ada.request("get")["you"] == room["you"]


def test_a_cookie_set_over_https_is_secure(classroom):
    client = APIClient()
    client.post(f"{ROOMS}join/", {"code": classroom.code, "nickname": "Ada"}, format="json", secure=True)

    assert client.cookies[settings.ROOM_GUEST_COOKIE]["secure"]


@pytest.mark.parametrize("change", [str.lower, lambda code: f"{code[:4]}-{code[4:]}", lambda code: f" {code[:4]} {code[4:]} "])
def test_a_code_is_accepted_in_every_common_spelling(classroom, change):
    Person(APIClient()).join(change(classroom.code), "Ada")


def test_the_same_browser_rejoins_as_the_same_participant_and_may_change_the_nickname(classroom):
    ada = classroom.student("Ada")
    before = ada.request("get")["you"]

    again = ada.join(classroom.code, "Ada L.", expect=200)

    assert again["you"] == {**before, "nickname": "Ada L."}
    assert classroom.look()["count"] == 1


@pytest.mark.parametrize(
    "taken", ["Ada", "ADA", " ada ", "Ａda", "Ada\u200d", "A\u034fda", "Ada\ufe0f", "Ada\u3164", "\u2800Ada", "Ad\U000e0100a"]
)
def test_variants_of_a_taken_nickname_are_refused(classroom, taken):
    classroom.student("Ada")

    problem = Person(APIClient()).join(classroom.code, taken, expect=409)

    assert problem["code"] == "nickname_taken"


@pytest.mark.parametrize("nickname", ["", "   ", "x" * 33, "a\u0000b", "\u202eevil", "\u3164", "\u2800\u2800", "\u200d"])
def test_a_nickname_that_cannot_be_displayed_is_refused(classroom, nickname):
    Person(APIClient()).join(classroom.code, nickname, expect=400)


def test_a_nickname_may_be_in_any_script(classroom):
    assert Person(APIClient()).join(classroom.code, "小明 👩‍🚀")["you"]["nickname"] == "小明 👩‍🚀"


@pytest.mark.parametrize(("method", "rest", "body"), [("post", "end/", {"keep": False}), ("patch", "", {"locked": True})])
def test_no_participant_joins_a_room_that_is_ended_or_locked_meanwhile(classroom, monkeypatch, method, rest, body):
    def meanwhile(nickname: str) -> str:
        classroom.teacher.request(method, rest, body)
        return nickname

    monkeypatch.setattr(joining, "usable_nickname", meanwhile)

    assert Person(APIClient()).join(classroom.code, "Ada", expect=404)["code"] == "wrong_code"
    assert not Participant.objects.exists()


def test_a_locked_room_admits_only_returning_participants(classroom):
    ada = classroom.student("Ada")

    assert classroom.teacher.request("patch", body={"locked": True})["status"] == "locked"

    assert Person(APIClient()).join(classroom.code, "Bob", expect=404)["code"] == "wrong_code"
    ada.join(classroom.code, "Ada", expect=200)
    assert ada.request("get")["status"] == "locked"
    classroom.teacher.request("patch", body={"locked": False})
    Person(APIClient()).join(classroom.code, "Bob")


def test_a_new_code_invalidates_the_old_one(classroom):
    code = classroom.teacher.request("post", "code/")["code"]

    assert code != classroom.code
    Person(APIClient()).join(classroom.code, "Ada", expect=404)
    Person(APIClient()).join(code, "Ada")


def test_ten_wrong_codes_per_minute_are_allowed_and_right_ones_still_accepted(classroom):
    for _ in range(10):
        Person(APIClient()).join("WRNGCDE2", "Ada", expect=404)
    for _ in range(20):
        Person(APIClient()).join("WRNGCDE2", "Ada", expect=429)
    # A class behind one address can still join.
    Person(APIClient()).join(classroom.code, "Cy")

    response = APIClient().post(f"{ROOMS}join/", {"code": "WRNGCDE2", "nickname": "Ada"}, format="json")

    assert response.status_code == 429
    assert 1 <= int(response.headers["Retry-After"]) <= 60
    # Other addresses can still try codes, and this one after a minute.
    elsewhere = APIClient(REMOTE_ADDR="10.1.2.3")
    assert elsewhere.post(f"{ROOMS}join/", {"code": "WRNGCDE2", "nickname": "Ada"}, format="json").status_code == 404
    WrongCode.objects.update(at=0.0)
    Person(APIClient()).join("WRNGCDE2", "Bob", expect=404)


def test_attempts_to_join_have_their_own_limit_per_address(classroom, settings, redis):
    settings.QUESTIONS_PER_MINUTE = settings.STRANGER_REQUESTS_PER_MINUTE = 1
    settings.ROOM_JOINS_PER_MINUTE = 6
    ada = Person(APIClient(REMOTE_ADDR="10.1.2.4"))
    ada.join(classroom.code, "Ada")

    def attempts(client, count):
        body = {"code": "WRNGCDE2", "nickname": "Bob"}
        return [client.post(f"{ROOMS}join/", body, format="json").status_code for _ in range(count)]

    assert attempts(ada.client, 3) == [404] * 3
    # With and without a cookie.
    assert attempts(APIClient(REMOTE_ADDR="10.1.2.4"), 4) == [404, 404, 429, 429]
    assert attempts(APIClient(REMOTE_ADDR="10.1.2.5"), 1) == [404]


def test_wrong_codes_from_before_a_clock_setback_do_not_count(classroom):
    for _ in range(10):
        Person(APIClient()).join("WRNGCDE2", "Ada", expect=404)
    WrongCode.objects.update(at=time.time() + 3 * 3600)
    Person(APIClient()).join("WRNGCDE2", "Ada", expect=404)

    Person(APIClient()).join(classroom.code, "Ada")


def test_addresses_of_one_ipv6_network_are_counted_together_and_none_is_stored(db):
    join_throttle.count_wrong_code("2001:db8:1:2::1")
    join_throttle.count_wrong_code("2001:db8:1:2:ffff::9")
    join_throttle.count_wrong_code("2001:db8:2:3::1")
    join_throttle.count_wrong_code("10.0.0.1")

    addresses = list(WrongCode.objects.values_list("address", flat=True))

    assert len(set(addresses)) == 3
    assert not any("2001" in one or "10.0" in one for one in addresses)


def test_a_cookie_with_an_invalid_signature_is_ignored(classroom):
    ada = classroom.student("Ada")
    forged = APIClient()
    forged.cookies[settings.ROOM_GUEST_COOKIE] = ada.client.cookies[settings.ROOM_GUEST_COOKIE].value[:-2] + "xx"

    assert forged.get(f"{ROOMS}{classroom.id}/").status_code == 404


def test_a_removed_participant_cannot_return_with_their_cookie(classroom):
    ada = classroom.student("Ada")

    classroom.teacher.request("delete", f"participants/{ada.request('get')['you']['id']}/", expect=204)

    ada.request("get", expect=404)
    assert ada.join(classroom.code, "Ada", expect=403)["code"] == "removed"
    assert classroom.look()["participants"] == []
    # The name is free.
    classroom.student("Ada")


def test_the_participants_of_a_room_are_limited(classroom, settings):
    settings.ROOM_PARTICIPANTS = 1
    classroom.student("Ada")

    problem = Person(APIClient()).join(classroom.code, "Bob", expect=409)

    assert problem["code"] == "room_full"
    assert "SCHEDVIZ_ROOM_PARTICIPANTS" in problem["detail"]


def test_requests_with_a_participants_cookie_need_the_csrf_token(classroom):
    ada = classroom.student("Ada")
    browser = APIClient(enforce_csrf_checks=True)
    browser.cookies[settings.ROOM_GUEST_COOKIE] = ada.client.cookies[settings.ROOM_GUEST_COOKIE].value

    assert browser.get(f"{ROOMS}{classroom.id}/").status_code == 200
    assert browser.post(f"{ROOMS}{classroom.id}/hand/", {"raised": True}, format="json").status_code == 403
