"""The tables of accounts, in addition to Django's users: invites, OpenID Connect identities, the audit log, the public demo."""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from schedviz.sessions.models import Membership, Session


class Invite(models.Model):
    """A link that makes its user a member of a session or, without a session, allows creating an account.

    Only the SHA-256 of its 128 random bits is stored.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, null=True, blank=True, related_name="invites")
    digest = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=16, choices=Membership.Role, default=Membership.Role.VIEWER)
    #: A note by its creator.
    note = models.CharField(max_length=200, blank=True, default="")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    #: How many more users may accept it.
    uses_left = models.PositiveIntegerField(default=1)
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"invite {self.pk} to {self.session_id or 'an account'}"


class Identity(models.Model):
    """The identity of a user at an OpenID Connect provider: its issuer and the subject, which the provider never reassigns."""

    issuer = models.CharField(max_length=500)
    subject = models.CharField(max_length=255)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="schedviz_identities")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "identities"
        constraints: ClassVar = [models.UniqueConstraint(fields=["issuer", "subject"], name="identity_once")]

    def __str__(self) -> str:
        return f"{self.subject} at {self.issuer}"


class HostedSession(Session):
    """A session for the admin pages, which do not show its name."""

    class Meta:
        proxy = True
        verbose_name = "session"

    def __str__(self) -> str:
        return str(self.pk)[:8]


class AuditEntry(models.Model):
    """An entry of the audit log. It outlives its user and its session."""

    at = models.DateTimeField(db_default=Now())
    action = models.CharField(max_length=40)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    #: The user name at that time; for a failed login the name that was entered; "" if there was none.
    user_name = models.CharField(max_length=150, blank=True, default="")
    #: The kind of credentials: `cookie`, `token <name>` or `link <n>`.
    by_way_of = models.CharField(max_length=220, blank=True, default="")
    address = models.CharField(max_length=64, blank=True, default="")
    session = models.UUIDField(null=True, blank=True)
    facts: models.JSONField[Any, Any] = models.JSONField(default=dict)

    class Meta:
        verbose_name_plural = "audit entries"
        ordering: ClassVar = ["-pk"]
        indexes: ClassVar = [models.Index(fields=["at"], name="audit_at"), models.Index(fields=["session"], name="audit_session")]

    def __str__(self) -> str:
        return f"{self.user_name or 'somebody'}: {self.action}"


class DemoSession(models.Model):
    """A session of the public demo, from which the sandboxes of visitors are forked."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, primary_key=True, related_name="demo")
    position = models.PositiveIntegerField(default=0)

    class Meta:
        ordering: ClassVar = ["position", "pk"]

    def __str__(self) -> str:
        return f"demo {self.session_id}"


class Visitor(models.Model):
    """A visitor of the public demo with a sandbox; deleted with it when it expires."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="schedviz_visitor")
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    #: A keyed digest of the network of the browser's address: visitors of one network share limits. "": unknown.
    network = models.CharField(max_length=64, default="", db_default="")

    def __str__(self) -> str:
        return f"visitor {self.user_id}"


class PasswordAttempt(models.Model):
    """A counted attempt of an address, or for an account: at a password, or at a new account or sandbox.

    Stores a keyed digest of the key of the limit, for an hour.
    """

    who = models.CharField(max_length=64)
    at = models.FloatField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["who", "at"], name="password_attempt_of")]

    def __str__(self) -> str:
        return f"password attempt {self.pk}"
