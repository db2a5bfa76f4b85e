"""The Django application that keeps sessions."""

from __future__ import annotations

from django.apps import AppConfig


class SchedulingSessionsConfig(AppConfig):
    """Labelled `scheduling`: Django has an application `sessions` of its own."""

    name = "schedviz.sessions"
    label = "scheduling"
    verbose_name = "Scheduling sessions"
    default_auto_field = "django.db.models.BigAutoField"
