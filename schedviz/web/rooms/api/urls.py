"""URL patterns of the rooms API, below `/api/v1/rooms/`."""

from __future__ import annotations

from django.urls import path

from schedviz.web.rooms.api.exports import RoomQr, RoomRecord
from schedviz.web.rooms.api.forks import OneRoomFork, RoomForks
from schedviz.web.rooms.api.joining import HandInRoom, JoinRoom, LeaveRoom, OneParticipant
from schedviz.web.rooms.api.questions import OneRoomQuestion, RoomAnswers, RoomQuestions
from schedviz.web.rooms.api.rooms import EndRoom, OneRoom, RoomCode, Rooms, ShowInRoom

urlpatterns = [
    path("", Rooms.as_view(), name="rooms"),
    path("join/", JoinRoom.as_view(), name="join-room"),
    path("<uuid:room_id>/", OneRoom.as_view(), name="room"),
    path("<uuid:room_id>/code/", RoomCode.as_view(), name="room-code"),
    path("<uuid:room_id>/qr/", RoomQr.as_view(), name="room-qr"),
    path("<uuid:room_id>/show/", ShowInRoom.as_view(), name="room-show"),
    path("<uuid:room_id>/end/", EndRoom.as_view(), name="room-end"),
    path("<uuid:room_id>/record/", RoomRecord.as_view(), name="room-record"),
    path("<uuid:room_id>/questions/", RoomQuestions.as_view(), name="room-questions"),
    path("<uuid:room_id>/questions/<int:number>/", OneRoomQuestion.as_view(), name="room-question"),
    path("<uuid:room_id>/answers/", RoomAnswers.as_view(), name="room-answers"),
    path("<uuid:room_id>/hand/", HandInRoom.as_view(), name="room-hand"),
    path("<uuid:room_id>/leave/", LeaveRoom.as_view(), name="room-leave"),
    path("<uuid:room_id>/forks/", RoomForks.as_view(), name="room-forks"),
    path("<uuid:room_id>/forks/<uuid:session_id>/", OneRoomFork.as_view(), name="room-fork"),
    path("<uuid:room_id>/participants/<int:participant_id>/", OneParticipant.as_view(), name="room-participant"),
]
