"""Limits password attempts per address, and wrong passwords per account. Counted in the database, for all web processes together."""

from __future__ import annotations

import unicodedata
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.utils import timezone

from schedviz.web.accounts import attempts
from schedviz.web.accounts.audit import MAX_NAME_LENGTH, Action
from schedviz.web.accounts.models import AuditEntry
from schedviz.web.addresses import client_network, network_of
from schedviz.web.redaction import printable

if TYPE_CHECKING:
    from django.http import HttpRequest

_MINUTE: Final = 60.0
_HOUR: Final = 3600.0
#: An account can always be used from networks from which it was used in this time, so that others cannot lock its user out.
_MAX_KNOWN_NETWORK_AGE: Final = timedelta(days=30)
#: The maximum number of addresses of an account that are compared.
_MAX_ADDRESSES: Final = 100


class Refusal(StrEnum):
    """The limit that refuses an attempt, as the key of its message."""

    ADDRESS = "too_many"
    ACCOUNT = "too_many_for_account"


def count_attempt(request: HttpRequest, account: str) -> Refusal | None:
    """Count an attempt for an account, existing or not. Returns the limit that refuses it, if one does."""
    network = client_network(request)
    attempts.delete_expired()
    if not attempts.admit(f"address {network}", settings.LOGINS_PER_MINUTE, _MINUTE):
        return Refusal.ADDRESS
    limit = settings.WRONG_PASSWORDS_PER_HOUR
    if limit and not attempts.admit(_key_of(account), limit, _HOUR) and not _is_remembered(account, network):
        return Refusal.ACCOUNT
    return None


def succeed(account: str) -> None:
    """Forget the wrong passwords of an account: its user knows the password."""
    attempts.clear(_key_of(account))


def _is_remembered(account: str, network: str) -> bool:
    """Whether the account was logged in to from this network recently."""
    logins = AuditEntry.objects.filter(
        action=Action.LOGIN, user_name=printable(account, MAX_NAME_LENGTH), at__gt=timezone.now() - _MAX_KNOWN_NETWORK_AGE
    )
    addresses = logins.order_by("address").values_list("address", flat=True).distinct()[:_MAX_ADDRESSES]
    return any(network_of(address) == network for address in addresses if address)


def _key_of(account: str) -> str:
    return f"account {unicodedata.normalize('NFKC', account)[:MAX_NAME_LENGTH]}"
