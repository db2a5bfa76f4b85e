"""The Django app of the REST API, which stores responses for retried requests."""

from __future__ import annotations

from django.apps import AppConfig


class RestConfig(AppConfig):
    name = "schedviz.web.api"
    label = "rest"
    verbose_name = "schedviz REST"
