"""The Django application for scheduling sessions."""

from __future__ import annotations

from django.apps import AppConfig


class SchedulingSessionsConfig(AppConfig):
    """The label is `scheduling`, because Django has an application called `sessions`."""

    name = "schedviz.sessions"
    label = "scheduling"
    verbose_name = "Scheduling sessions"
    default_auto_field = "django.db.models.BigAutoField"
