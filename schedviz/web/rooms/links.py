"""How a room is reached: its code, its short link, and the link as a QR code."""

from __future__ import annotations

import io
import secrets
from typing import Final

import segno
from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request

LENGTH: Final = 8
#: Without vowels, and of each pair of similar characters (0 O, 1 I L, 2 Z, 5 S, 8 B) only one or none.
ALPHABET: Final = "23456789CDFGHJKMNPQRTVWXY"


def base_of(request: HttpRequest | Request) -> str:
    """The base URL `https://host` for links: SCHEDVIZ_URL, otherwise the host of the request."""
    return base(request.scheme or "http", request.get_host())


def base(scheme: str, host: str) -> str:
    """The same for a scheme and a host."""
    return str(settings.URL).rstrip("/") or f"{scheme}://{host}"


def link(base: str, code: str) -> str:
    """The short link of a room; "" if it has no code any more."""
    return f"{base}/r/{code}" if code else ""


def qr_svg(text: str) -> bytes:
    """A QR code as a scalable SVG, black on white with the margin that scanners need."""
    out = io.BytesIO()
    segno.make_qr(text, error="m").save(out, kind="svg", border=4, dark="#000", light="#fff", omitsize=True, xmldecl=False)
    return out.getvalue()


def new_code() -> str:
    """A random code. There are 25⁸ = 1.5 · 10¹¹, too many to guess at a hundred attempts a minute."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def read_code(raw: str) -> str:
    """The normal form of an entered code: without hyphens and spaces, in upper case."""
    return "".join(letter for letter in raw.upper() if letter.isalnum())[: 4 * LENGTH]
