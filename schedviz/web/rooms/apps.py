"""The Django app of rooms."""

from __future__ import annotations

from django.apps import AppConfig


class RoomsConfig(AppConfig):
    name = "schedviz.web.rooms"
    label = "rooms"
    verbose_name = "schedviz rooms"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from schedviz.sessions.hosting import sweep
        from schedviz.web import actors
        from schedviz.web.rooms import membership

        actors.register(membership)
        sweep.seldom(_sweep)


def _sweep() -> None:
    # Not above: workers, which never sweep, are not to load the web.
    from schedviz.web.rooms.closing import sweep_rooms

    sweep_rooms()
