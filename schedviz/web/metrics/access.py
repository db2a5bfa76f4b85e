"""Access to /metrics, which covers the sessions of all users: by token, from an allowed network, or as staff."""

from __future__ import annotations

import ipaddress
import secrets

from django.conf import settings
from django.http import HttpRequest

from schedviz.web.addresses import client_address, ip_of


def may_read(request: HttpRequest) -> bool:
    """Whether the client may read the metrics. Without a token and networks, only staff may."""
    return may_read_names(request) or (request.user.is_active and getattr(request.user, "is_staff", False))


def may_read_names(request: HttpRequest) -> bool:
    """Whether the client may also see the names of sessions. Staff may not."""
    return _has_token(request) or _comes_from_allowed(request)


def _has_token(request: HttpRequest) -> bool:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    expected = settings.METRICS_TOKEN
    return bool(expected) and scheme.lower() == "bearer" and secrets.compare_digest(token.strip().encode(), expected.encode())


def _comes_from_allowed(request: HttpRequest) -> bool:
    address = ip_of(client_address(request))
    return address is not None and any(address in ipaddress.ip_network(network, strict=False) for network in settings.METRICS_FROM)
