"""The Django app of REST: what has to be remembered of requests."""

from __future__ import annotations

from django.apps import AppConfig


class RestConfig(AppConfig):
    name = "schedviz.web.api"
    label = "rest"
    verbose_name = "schedviz REST"
