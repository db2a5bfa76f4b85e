"""Digests of what was sent, as they are stored: whoever reads the database cannot try out what it was."""

from __future__ import annotations

from django.utils.crypto import salted_hmac


def keyed(digest: str) -> str:
    """The digest under this installation's secret key."""
    return salted_hmac("schedviz.digest", digest, algorithm="sha256").hexdigest()


def is_same(stored: str, digest: str) -> bool:
    """Whether this digest was stored. Versions before stored it without a key."""
    return stored in (keyed(digest), digest)
