"""Calling extenders: which addresses are allowed, the HTTP transport, and the recorded answers."""

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser


def may_call_extenders(user: AbstractBaseUser) -> bool:
    """Whether the operator allows this user's sessions to call extenders (SCHEDVIZ_EXTENDER_USERS)."""
    return user.get_username() in settings.EXTENDER_USERS
