"""Credentials: tokens for scripts and one-time login links. Only the SHA-256 of their secrets is stored."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class Token(models.Model):
    """A token, which scripts send as `Authorization: Bearer`."""

    class Scope(models.TextChoices):
        READ = "read"
        WRITE = "write"

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="schedviz_tokens")
    name = models.CharField(max_length=200)
    digest = models.CharField(max_length=64, unique=True)
    #: `read` allows what its owner may see, `write` what its owner may do.
    scope = models.CharField(max_length=8, choices=Scope, default=Scope.WRITE)
    created_at = models.DateTimeField(db_default=Now())
    #: None for a token that does not expire.
    expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["owner", "name"], name="token_name_once")]

    def __str__(self) -> str:
        return f"token {self.name} ({self.scope})"


class LoginLink(models.Model):
    """A link that logs its user in once, and again for a minute in the same browser."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    #: None until it is used.
    used_at = models.DateTimeField(null=True, blank=True)
    #: The digest of the cookie of the browser that used it.
    used_by = models.CharField(max_length=64, db_default="", blank=True)

    def __str__(self) -> str:
        return f"login link of {self.user_id}"
