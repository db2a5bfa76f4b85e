"""How often one address may try what makes something out of nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from rest_framework.throttling import SimpleRateThrottle

if TYPE_CHECKING:
    from django.http import HttpRequest


class PerAddress(SimpleRateThrottle):
    """So many an hour from one address."""

    scope = "accounts"

    def __init__(self, what: str, per_hour: int) -> None:
        self._what = what
        self._per_hour = per_hour
        super().__init__()

    def get_rate(self) -> str:
        return f"{self._per_hour}/hour"

    def get_cache_key(self, request: Any, _view: Any) -> str:
        return f"{self._what}:{self.get_ident(request)}"


def has_room(request: HttpRequest, what: str) -> bool:
    """Whether this address may make one more account or sandbox now."""
    return PerAddress(what, settings.MADE_PER_HOUR).allow_request(request, None)  # type: ignore[arg-type]
