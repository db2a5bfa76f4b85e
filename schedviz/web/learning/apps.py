"""The Django app of lesson progress."""

from __future__ import annotations

from django.apps import AppConfig


class LearningConfig(AppConfig):
    """Progress in lessons."""

    name = "schedviz.web.learning"
    label = "learning"
    verbose_name = "Learning"
    default_auto_field = "django.db.models.BigAutoField"
