"""How a room is reached: its short link, and the link as a QR code."""

from __future__ import annotations

import io

import segno
from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request


def base_of(request: HttpRequest | Request) -> str:
    """`https://host` under which others reach this server: SCHEDVIZ_URL, else as the one who asks did."""
    return base(request.scheme or "http", request.get_host())


def base(scheme: str, host: str) -> str:
    """The same, of what somebody reached this server by."""
    return str(settings.URL).rstrip("/") or f"{scheme}://{host}"


def link(base: str, code: str) -> str:
    """The short link of a room; "" where it has no code any more."""
    return f"{base}/r/{code}" if code else ""


def qr_svg(text: str) -> bytes:
    """A text as a QR code, black on white with the margin that scanners need; it grows with the page that shows it."""
    out = io.BytesIO()
    segno.make_qr(text, error="m").save(out, kind="svg", border=4, dark="#000", light="#fff", omitsize=True, xmldecl=False)
    return out.getvalue()
