"""Counts attempts in the database, for all web processes together: with keyed digests of addresses and names, for an hour."""

from __future__ import annotations

import time
from typing import Final

from django.utils.crypto import salted_hmac

from schedviz.web.accounts.models import PasswordAttempt

#: How long an attempt is kept: the longest period of a limit.
RETENTION_SECONDS: Final = 3600.0


def admit(key: str, limit: int, seconds: float) -> bool:
    """Count an attempt, unless `limit` attempts with this key were counted in the last `seconds`. Returns whether it was counted."""
    now = time.time()
    # Stored before counting: of simultaneous attempts, none goes uncounted. Attempts in the future are from before the clock was set back.
    own = PasswordAttempt.objects.create(who=_digest(key), at=now)
    if PasswordAttempt.objects.filter(who=own.who, at__gt=now - seconds, at__lt=now + seconds).count() <= limit:
        return True
    own.delete()
    return False


def clear(key: str) -> None:
    """Delete the attempts with this key."""
    PasswordAttempt.objects.filter(who=_digest(key)).delete()


def delete_expired() -> None:
    """Delete the attempts that no limit counts any more."""
    PasswordAttempt.objects.filter(at__lte=time.time() - RETENTION_SECONDS).delete()


def _digest(key: str) -> str:
    """The stored form of a key: neither addresses nor mistyped names are kept."""
    return salted_hmac("schedviz.accounts.passwords", key, algorithm="sha256").hexdigest()
