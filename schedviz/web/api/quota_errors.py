"""The responses to requests that the quotas do not allow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from schedviz.sessions import quotas
from schedviz.sessions.quotas import QuotaReached
from schedviz.web.api.errors import ApiError
from schedviz.web.auth.actors import Actor


def require_session_quota(actor: Actor, *, nodes: int = 0, pods: int = 0, objects: int = 0) -> None:
    """Raises `ApiError` 409 if the quotas do not allow one more session with a cluster of this size."""
    with within_quotas():
        quotas.require_session_quota(actor.user_id, nodes=nodes, pods=pods, objects=objects)


@contextmanager
def within_quotas() -> Iterator[None]:
    """Raises `ApiError` 409 in place of `QuotaReached`."""
    try:
        yield
    except QuotaReached as reached:
        raise ApiError(409, reached.code, str(reached), hint="GET quotas/ lists the quotas and their use.") from reached
