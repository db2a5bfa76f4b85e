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
#: Without 0 O, 1 I L, 2 Z, 5 S, 8 B: of each the one is left out that is harder to tell; and without vowels.
ALPHABET: Final = "23456789CDFGHJKMNPQRTVWXY"


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


def new_code() -> str:
    """25⁸ there are, 1.5 · 10¹¹: with ten tries a minute nobody finds one."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def read_code(written: str) -> str:
    """The code that somebody wrote, with or without a hyphen, spaces and capitals."""
    return "".join(letter for letter in written.upper() if letter.isalnum())[: 4 * LENGTH]
