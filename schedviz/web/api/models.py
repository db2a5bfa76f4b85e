"""Requests with their responses, so that a retry gets the same response and creates nothing twice."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class AnsweredRequest(models.Model):
    """A request with an `Idempotency-Key`, and its response. Deleted after a day."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    #: `keyed_digest.keyed` of the SHA-256 of the method, the address and the body.
    digest = models.CharField(max_length=64)
    #: 0 while the request is running.
    status = models.PositiveSmallIntegerField(default=0)
    location = models.CharField(max_length=500, blank=True, default="")
    body = models.BinaryField(default=b"")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["user", "key"], name="answered_once")]
        indexes: ClassVar = [models.Index(fields=["created_at"], name="answered_at")]

    def __str__(self) -> str:
        return f"{self.key} of {self.user_id}: {self.status or 'running'}"
