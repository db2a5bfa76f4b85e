"""Throttles for expensive actions, by address or by visitor of the public demo.

Accounts and sandboxes are counted in the database, for all web processes together. Steps of logins with OpenID Connect are counted in each
process, so that an anonymous request writes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from rest_framework.throttling import SimpleRateThrottle

from schedviz.web.accounts import attempts
from schedviz.web.addresses import client_network

if TYPE_CHECKING:
    from django.http import HttpRequest

_MINUTE: Final = 60.0
_HOUR: Final = 3600.0


class _OidcSteps(SimpleRateThrottle):
    """The logins that an address may start, or end, in a minute."""

    scope = "accounts"

    def __init__(self, step: str) -> None:
        self._step = step
        super().__init__()

    def get_rate(self) -> str:
        return f"{settings.OIDC_LOGINS_PER_MINUTE}/min"

    def get_cache_key(self, request: Any, _view: Any) -> str:
        return f"oidc-{self._step}:{client_network(request)}"


def may_create(request: HttpRequest, action: str) -> bool:
    """Whether this address may create one more account or sandbox now."""
    return _allows(f"{action} {client_network(request)}", settings.MADE_PER_HOUR, _HOUR)


def may_use_oidc(request: HttpRequest, step: str) -> bool:
    """Whether this address may start, or end, one more login with OpenID Connect now."""
    return _OidcSteps(step).allow_request(request, None)  # type: ignore[arg-type]


def may_start_over(request: HttpRequest) -> bool:
    """Whether this visitor of the public demo may replace their sandbox now."""
    return _allows(f"sandbox-again {request.user.pk}", settings.DEMO_RESTARTS_PER_MINUTE, _MINUTE)


def _allows(key: str, limit: int, seconds: float) -> bool:
    attempts.delete_expired()
    return attempts.admit(key, limit, seconds)
