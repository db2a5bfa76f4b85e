"""Every address of the web server."""

from __future__ import annotations

from django.urls import include, path, re_path

from schedviz.web.api.errors import no_such_address, only_by_websocket
from schedviz.web.health import healthz
from schedviz.web.metrics.view import metrics

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("metrics", metrics, name="metrics"),
    path("api/v1/", include("schedviz.web.api.urls")),
    re_path(r"^api(?:/|$)", no_such_address),
    re_path(r"^ws(?:/|$)", only_by_websocket),
    path("", include("schedviz.web.pages.urls")),
]
handler404 = "schedviz.web.pages.views.not_found"
