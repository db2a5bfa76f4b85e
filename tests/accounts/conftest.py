"""The fixtures of tests/web, an empty cache, and the audit log."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.core.cache import cache

from tests.web.conftest import commits, people, viewer, web_server

__all__ = ["commits", "people", "viewer", "web_server"]


@pytest.fixture(autouse=True)
def empty_cache() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def audit() -> Callable[[], list[str]]:
    """A function that lists the actions in the audit log, oldest first."""
    from schedviz.web.accounts.models import AuditEntry

    return lambda: list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))
