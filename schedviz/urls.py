"""Every address of the web server."""

from __future__ import annotations

from django.urls import include, path

from schedviz.web.health import healthz
from schedviz.web.metrics.view import metrics

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("metrics", metrics, name="metrics"),
    path("api/v1/", include("schedviz.web.api.urls")),
    path("", include("schedviz.web.pages.urls")),
]
handler404 = "schedviz.web.pages.views.not_found"
