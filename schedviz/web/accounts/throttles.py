"""Throttles for expensive actions, by address or by visitor of the public demo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from rest_framework.throttling import SimpleRateThrottle

from schedviz.web.addresses import network_of

if TYPE_CHECKING:
    from django.http import HttpRequest


class _Throttle(SimpleRateThrottle):
    """Allows at most `rate` (`10/hour`) of `what` for `who`, or for the address of a request."""

    scope = "accounts"

    def __init__(self, what: str, rate: str, who: object = None) -> None:
        self._what = what
        self._rate = rate
        self._who = who
        super().__init__()

    def get_rate(self) -> str:
        return self._rate

    def get_cache_key(self, request: Any, _view: Any) -> str:
        return f"{self._what}:{network_of(self.get_ident(request) or '') if self._who is None else self._who}"


def has_room(request: HttpRequest, what: str) -> bool:
    """Whether this address may create one more account or sandbox now."""
    return _allows(request, _Throttle(what, f"{settings.MADE_PER_HOUR}/hour"))


def may_use_oidc(request: HttpRequest, step: str) -> bool:
    """Whether this address may start, or end, one more login with OpenID Connect now."""
    return _allows(request, _Throttle(f"oidc-{step}", f"{settings.OIDC_LOGINS_PER_MINUTE}/min"))


def may_start_over(request: HttpRequest) -> bool:
    """Whether this visitor of the public demo may replace their sandbox now."""
    return _allows(request, _Throttle("sandbox-again", f"{settings.DEMO_RESTARTS_PER_MINUTE}/min", request.user.pk))


def _allows(request: HttpRequest, throttle: _Throttle) -> bool:
    return throttle.allow_request(request, None)  # type: ignore[arg-type]
