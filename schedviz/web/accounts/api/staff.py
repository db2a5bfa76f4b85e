"""What staff alone may ask."""

from __future__ import annotations

from rest_framework.request import Request

from schedviz.web.actors import Verb
from schedviz.web.api.access import actor_for, forbidden
from schedviz.web.api.errors import ApiError


def expect_staff(request: Request, *, changing: bool = False) -> None:
    """Raises `ApiError` 401 for who is not known, 403 for who is no staff, or, `changing` something, came with a token that only reads."""
    actor = actor_for(request, Verb.LIST)
    if not getattr(request.user, "is_staff", False):
        raise ApiError(403, "forbidden", "This is for the staff of this server.", hint="Ask whoever runs it.")
    if changing and actor.read_only:
        raise forbidden(actor, Verb.CREATE)
