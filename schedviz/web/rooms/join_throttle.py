"""Wrong codes are counted by address, in the database: for all web processes together, and whether Redis is there or not."""

from __future__ import annotations

import ipaddress
import math
import time
from typing import Final

from django.conf import settings
from django.utils.crypto import salted_hmac

from schedviz.web.rooms.errors import TooManyWrongCodes
from schedviz.web.rooms.models import WrongCode

SECONDS: Final = 60.0


def expect_tries_left(address: str) -> None:
    """Raises `TooManyWrongCodes` where an address has used up its tries: a right code would not be taken from it now either."""
    now = time.time()
    allowed: int = settings.ROOM_TRIES_PER_MINUTE
    # None is of the future, unless the clock was set back; other servers' clocks may be a little ahead.
    recent = WrongCode.objects.filter(address=_kept(address), at__gt=now - SECONDS, at__lt=now + SECONDS)
    wrong = recent.order_by("-at").values_list("at", flat=True)
    newest = list(wrong[:allowed])
    if len(newest) >= allowed:
        seconds = max(1, math.ceil(newest[-1] + SECONDS - now))
        raise TooManyWrongCodes(
            f"{allowed} wrong codes came from your address within a minute (SCHEDVIZ_ROOM_TRIES_PER_MINUTE); try again in {seconds} s.",
            seconds=seconds,
        )


def count_wrong_code(address: str) -> None:
    """One more; what is older than a minute is forgotten."""
    now = time.time()
    WrongCode.objects.filter(at__lte=now - SECONDS).delete()
    WrongCode.objects.create(address=_kept(address), at=now)


def _kept(address: str) -> str:
    """Whose tries are counted together: an IPv4 address, or the network of an IPv6 one, in which one machine has all addresses it likes."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        who = address
    else:
        who = str(ipaddress.ip_network((found, 64), strict=False)) if found.version == 6 else str(found)
    return salted_hmac("schedviz.rooms.tries", who, algorithm="sha256").hexdigest()
