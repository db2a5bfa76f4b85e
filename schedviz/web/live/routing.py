"""Addresses of WebSockets."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
websocket_urlpatterns = urlpatterns
