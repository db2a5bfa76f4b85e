"""Limits password attempts per address, and wrong passwords per account. Counted in the database, for all web processes together."""

from __future__ import annotations

import time
import unicodedata
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.utils import timezone
from django.utils.crypto import salted_hmac

from schedviz.web.accounts.audit import LONGEST_NAME, Action, address_of
from schedviz.web.accounts.models import AuditEntry, PasswordAttempt
from schedviz.web.addresses import network_of
from schedviz.web.redaction import printable

if TYPE_CHECKING:
    from django.http import HttpRequest

_MINUTE: Final = 60.0
_HOUR: Final = 3600.0
#: An account can always be used from networks from which it was used in this time, so that others cannot lock its user out.
_REMEMBERED: Final = timedelta(days=30)
#: The maximum number of addresses of an account that are compared.
_MOST_ADDRESSES: Final = 100


class Refusal(StrEnum):
    """The limit that refuses an attempt, as the key of its message."""

    ADDRESS = "too_many"
    ACCOUNT = "too_many_for_account"


def begin(request: HttpRequest, account: str) -> Refusal | None:
    """Count an attempt for an account, existing or not. Returns the limit that refuses it, if one does."""
    address = network_of(address_of(request))
    PasswordAttempt.objects.filter(at__lte=time.time() - _HOUR).delete()
    if not _counts(f"address {address}", settings.LOGINS_PER_MINUTE, _MINUTE):
        return Refusal.ADDRESS
    limit = settings.WRONG_PASSWORDS_PER_HOUR
    if limit and not _counts(_key_of(account), limit, _HOUR) and not _is_remembered(account, address):
        return Refusal.ACCOUNT
    return None


def succeed(account: str) -> None:
    """Forget the wrong passwords of an account: its user knows the password."""
    PasswordAttempt.objects.filter(who=_digest(_key_of(account))).delete()


def _counts(key: str, limit: int, seconds: float) -> bool:
    """Count an attempt unless `limit` attempts were counted in the last `seconds`."""
    now = time.time()
    # Stored before counting: of simultaneous attempts, none goes uncounted. Attempts in the future are from before the clock was set back.
    own = PasswordAttempt.objects.create(who=_digest(key), at=now)
    if PasswordAttempt.objects.filter(who=own.who, at__gt=now - seconds, at__lt=now + seconds).count() <= limit:
        return True
    own.delete()
    return False


def _is_remembered(account: str, address: str) -> bool:
    """Whether the account was logged in to from this network lately."""
    logins = AuditEntry.objects.filter(action=Action.LOGIN, user_name=printable(account, LONGEST_NAME), at__gt=timezone.now() - _REMEMBERED)
    found = logins.order_by("address").values_list("address", flat=True).distinct()[:_MOST_ADDRESSES]
    return any(network_of(one) == address for one in found if one)


def _key_of(account: str) -> str:
    return f"account {unicodedata.normalize('NFKC', account)[:LONGEST_NAME]}"


def _digest(key: str) -> str:
    """The stored form of a key: neither addresses nor mistyped names are kept."""
    return salted_hmac("schedviz.accounts.passwords", key, algorithm="sha256").hexdigest()
