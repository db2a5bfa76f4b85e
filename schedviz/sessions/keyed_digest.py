"""Keyed digests of requests, so that a reader of the database cannot guess a request and verify the guess."""

from __future__ import annotations

from django.utils.crypto import salted_hmac


def keyed(digest: str) -> str:
    """The digest under this installation's secret key."""
    return salted_hmac("schedviz.digest", digest, algorithm="sha256").hexdigest()


def is_same(stored: str, digest: str) -> bool:
    """Whether this digest was stored. Earlier versions stored it without a key."""
    return stored in (keyed(digest), digest)
