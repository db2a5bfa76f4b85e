"""Rooms that were never ended, and rooms whose deletion was interrupted."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from schedviz.sessions.hosting.steady_clock import SteadyClock
from schedviz.sessions.models import Session
from schedviz.web.rooms import closing
from schedviz.web.rooms.closing import sweep_rooms
from schedviz.web.rooms.models import Participant, Room, RoomFork


def test_an_inactive_room_ends_automatically_and_its_personal_data_is_deleted(classroom, settings):
    ada = classroom.student("Ada")
    ada.request("post", "forks/", {}, expect=201)
    sweep_rooms()
    assert Participant.objects.exists()

    Room.objects.update(active_at=timezone.now() - timedelta(hours=settings.ROOM_HOURS, seconds=1))
    sweep_rooms()

    assert classroom.look()["status"] == "ended"
    assert not Participant.objects.exists()
    assert Session.objects.get() == classroom.session


def test_no_room_is_ended_just_after_a_clock_jump(classroom, settings, monkeypatch):
    classroom.student("Ada")
    now = [1e9]
    monkeypatch.setattr(closing, "CLOCK", SteadyClock(wall=lambda: now[0]))
    # The clock jumps forward, so that all rooms seem abandoned.
    now[0] += (settings.ROOM_HOURS + 1) * 3600
    Room.objects.update(active_at=timezone.now() - timedelta(hours=settings.ROOM_HOURS + 1))
    sweep_rooms()

    assert classroom.look()["status"] == "open"
    assert Participant.objects.exists()


def test_forks_of_a_deleted_room_are_swept(classroom):
    ada = classroom.student("Ada")
    ada.request("post", "forks/", {}, expect=201)
    # The process died after deleting the room and before deleting its forks.
    Room.objects.all().delete()

    sweep_rooms()

    assert not RoomFork.objects.exists()
    assert Session.objects.get() == classroom.session


def test_kept_forks_are_not_swept(classroom):
    ada = classroom.student("Ada")
    fork = ada.request("post", "forks/", {}, expect=201)["id"]
    classroom.teacher.request("post", "end/", {"keep": True})

    sweep_rooms()
    assert classroom.teacher.status_of(f"sessions/{fork}/") == 200
    classroom.teacher.request("delete", expect=204)
    sweep_rooms()

    assert classroom.teacher.status_of(f"sessions/{fork}/") == 200


def test_a_room_stays_open_without_a_session_after_its_session_is_deleted(classroom):
    ada = classroom.student("Ada")
    classroom.teacher.request_at("delete", f"/api/v1/sessions/{classroom.session.pk}/", expect=204)

    room = ada.request("get")

    assert (room["session"], room["moment"], room["lesson"]) == (None, None, "")
    ada.request("post", "forks/", {}, expect=404)
    classroom.teacher.request("post", "end/", {})
