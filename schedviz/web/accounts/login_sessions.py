"""Deletes expired login sessions (`django_session`), which Django does not delete automatically."""

from __future__ import annotations

from importlib import import_module

from django.conf import settings
from django.utils import timezone

#: The number of rows that are deleted at a time, so that the sweeper is not blocked.
_DELETED_AT_ONCE = 1000


def delete_expired() -> int:
    """Delete a batch of expired login sessions, and return their number. The next call deletes the next batch."""
    rows = import_module(settings.SESSION_ENGINE).SessionStore.get_model_class().objects
    expired = list(rows.filter(expire_date__lt=timezone.now()).values_list("pk", flat=True)[:_DELETED_AT_ONCE])
    return int(rows.filter(pk__in=expired).delete()[0]) if expired else 0
