"""Limits wrong room codes per address, counted in the database: for all web processes together, with or without Redis."""

from __future__ import annotations

import math
import time
from typing import Final

from django.conf import settings
from django.utils.crypto import salted_hmac

from schedviz.web.addresses import network_of
from schedviz.web.rooms.errors import TooManyWrongCodes
from schedviz.web.rooms.models import WrongCode

SECONDS: Final = 60.0


def require_tries_left(address: str) -> None:
    """For a wrong code: raises `TooManyWrongCodes` if an address has used up its attempts.

    A right code is always accepted, so that a class behind one address can join although somebody there mistypes the code. A code has over
    10^11 values, and SCHEDVIZ_ROOM_JOINS_PER_MINUTE limits how many an address can try.
    """
    now = time.time()
    allowed: int = settings.ROOM_TRIES_PER_MINUTE
    # Attempts in the future are from before the clock was set back; the clocks of other servers may be slightly ahead.
    recent = WrongCode.objects.filter(address=_counter_key(address), at__gt=now - SECONDS, at__lt=now + SECONDS)
    wrong = recent.order_by("-at").values_list("at", flat=True)
    newest = list(wrong[:allowed])
    if len(newest) >= allowed:
        seconds = max(1, math.ceil(newest[-1] + SECONDS - now))
        raise TooManyWrongCodes(
            f"{allowed} wrong codes came from your address within a minute (SCHEDVIZ_ROOM_TRIES_PER_MINUTE); try again in {seconds} s.",
            seconds=seconds,
        )


def count_wrong_code(address: str) -> None:
    """Count a wrong code, and delete attempts that are older than a minute."""
    now = time.time()
    WrongCode.objects.filter(at__lte=now - SECONDS).delete()
    WrongCode.objects.create(address=_counter_key(address), at=now)


def _counter_key(address: str) -> str:
    """The key of the count; the address itself is not stored."""
    return salted_hmac("schedviz.rooms.tries", network_of(address), algorithm="sha256").hexdigest()
