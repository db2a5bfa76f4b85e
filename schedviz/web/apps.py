"""The Django app of the web server."""

from __future__ import annotations

from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "schedviz.web"
    label = "web"
    verbose_name = "schedviz web"
