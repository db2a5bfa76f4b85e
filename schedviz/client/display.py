"""Represents a session as one line, and as a card in a notebook."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

_MEMBERS = ("status", "event", "cycle", "clockSeconds", "message")


def line(kind: str, info: Mapping[str, Any]) -> str:
    """One line about a session; `kind` is the class name."""
    return f"<{kind} {info['name']!r} {info['id']} {info['status']}, event {info['event']}, cycle {info['cycle']}>"


def card(info: Mapping[str, Any]) -> str:
    """HTML with a link to the session's page."""
    rows = "".join(
        f"<tr><th>{name}</th><td>{html.escape(str(info[name]))}</td></tr>" for name in _MEMBERS if info.get(name) not in (None, "")
    )
    page = str(info["page"])
    name = html.escape(str(info["name"]))
    title = f'<a href="{html.escape(page)}">{name}</a>' if page.startswith(("http://", "https://")) else name
    return f"<table><caption>{title}</caption>{rows}</table>"
