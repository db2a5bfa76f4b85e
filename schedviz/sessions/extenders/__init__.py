"""Calling extenders: the allowed addresses, the HTTP transport, and the recorded responses.

`schedviz trace` uses the transport without Django's apps, so nothing here may import a model at run time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser


def may_call_extenders(user: AbstractBaseUser) -> bool:
    """Whether the operator allows this user's sessions to call extenders (SCHEDVIZ_EXTENDER_USERS)."""
    return user.get_username() in settings.EXTENDER_USERS
