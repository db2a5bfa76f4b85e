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
        from schedviz.web.auth import actors
        from schedviz.web.rooms import membership

        actors.register(membership)
        sweep.register_periodic_sweep(_sweep)


def _sweep() -> None:
    # Imported here because workers, which never sweep, must not load the web server's modules.
    from schedviz.web.rooms.closing import sweep_rooms

    sweep_rooms()
