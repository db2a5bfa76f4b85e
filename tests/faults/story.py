"""What a failed fault run leaves to read: where every session stands, who owns it, and the ends of the logs."""

from __future__ import annotations

from pathlib import Path

import redis
from django.db.models import F

from schedviz.sessions import heartbeat, stream
from schedviz.sessions.database import DatabaseSeconds
from schedviz.sessions.models import Session

_TOLD = ("status", "lease_owner", "epoch", "acquisitions", "trying_seq", "applied_seq", "last_seq", "interrupt_seq", "chunk", "message")
_LOG_CHARACTERS = 3000


def tell(logs: list[Path]) -> str:
    """All of it as text."""
    lines: list[str] = []
    for session in Session.objects.annotate(leased=F("lease_until") - DatabaseSeconds()):
        members = " ".join(f"{name}={getattr(session, name)!r}" for name in _TOLD)
        lines.append(f"session {session.pk} leased for {session.leased:.1f} s: {members}")
    try:
        lines.append(f"workers {sorted(heartbeat.alive())}; turns that wait: {stream.client().llen('engine')}")
        lines += [f"    {key.decode()}" for key in sorted(stream.client().scan_iter("schedviz:bell:*"))]
    except redis.RedisError as error:
        lines.append(f"Redis: {error}")
    for log in logs:
        lines.append(f"--- {log.name}\n{log.read_text(errors='replace')[-_LOG_CHARACTERS:]}")
    return "\n".join(lines)
