"""URL patterns of the room pages."""

from __future__ import annotations

from django.urls import path

from schedviz.web.rooms import pages

urlpatterns = [
    path("r/", pages.join_page, name="join-page"),
    path("r/<str:code>/", pages.join_page, name="join-page-of-code"),
    path("rooms/", pages.rooms_page, name="rooms-page"),
    path("rooms/<uuid:room_id>/", pages.room_page, name="room-page"),
    path("rooms/<uuid:room_id>/presenter/", pages.presenter_page, name="presenter-page"),
    path("rooms/<uuid:room_id>/projector/", pages.projector_page, name="projector-page"),
]
