"""People around a session, as the tests of the web have them, and passwords that take no time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.core.cache import cache

from tests.web.conftest import commits, people, viewer, web_server

__all__ = ["commits", "people", "viewer", "web_server"]


@pytest.fixture(autouse=True)
def quick_passwords(settings) -> Iterator[None]:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def audit() -> Callable[[], list[str]]:
    """What the audit log has, oldest first."""
    from schedviz.web.accounts.models import AuditEntry

    return lambda: list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))
