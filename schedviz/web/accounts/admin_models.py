"""The models of the admin pages and their actions. Every action is written to the audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat

from schedviz.sessions import storage
from schedviz.sessions.models import Session
from schedviz.sessions.transfer import create, deletion
from schedviz.web.accounts.audit import Action, record
from schedviz.web.accounts.models import AuditEntry, DemoSession, HostedSession, Identity, Invite
from schedviz.web.models import Token

if TYPE_CHECKING:
    _Base = admin.ModelAdmin[Any]
    _UserBase = UserAdmin[User]
else:
    _Base, _UserBase = admin.ModelAdmin, UserAdmin


class ForStaff(_Base):
    """All staff may view; each subclass defines what they may change."""

    #: The lookups that a URL may filter by. Django would allow every column, so that staff could read hidden ones letter by letter.
    lookups: ClassVar[frozenset[str]] = frozenset()

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:  # noqa: ARG002 -- Django passes them by name.
        return lookup in self.lookups

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_staff)

    def has_view_permission(self, request: HttpRequest, _obj: Model | None = None) -> bool:
        return self.has_module_permission(request)

    def has_add_permission(self, _request: HttpRequest, _obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, _request: HttpRequest, _obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, _request: HttpRequest, _obj: Model | None = None) -> bool:
        return False


class Sessions(ForStaff):
    """Sessions with their owner, size and status, without their content."""

    list_display = ("short", "owner", "status", "cycle", "nodes", "pods", "stored", "created_at", "updated_at")
    list_filter = ("status", "created_at")
    lookups = frozenset(("status__exact", "created_at__gte", "created_at__lt"))
    search_fields = ("owner__username", "id")
    list_select_related = ("owner",)
    list_per_page = 50
    fields = ("id", "owner", "status", "cycle", "event", "nodes", "pods", "stored", "created_at", "updated_at")
    readonly_fields = fields
    ordering = ("-created_at",)
    actions = ("cancel", "delete_them", "show_in_demo", "hide_from_demo")

    @admin.display(description="session")
    def short(self, session: Session) -> str:
        return str(session.pk)[:8]

    @admin.display(description="stored")
    def stored(self, session: Session) -> str:
        return filesizeformat(storage.stored_bytes([session.pk]).get(session.pk, 0))

    @admin.action(description="Cancel the import of the chosen sessions")
    def cancel(self, request: HttpRequest, chosen: QuerySet[Session]) -> None:
        cancelled = 0
        for session in chosen:
            if create.cancel_import(session.pk):
                cancelled += 1
                record(Action.ADMIN_CANCELLED, request, session=session)
        self._report_count(request, cancelled, "import cancelled", "imports cancelled")

    @admin.action(description="Delete the chosen sessions with all their data")
    def delete_them(self, request: HttpRequest, chosen: QuerySet[Session]) -> None:
        deleted = _delete_sessions(request, chosen)
        self._report_count(request, deleted, "session deleted", "sessions deleted")

    @admin.action(description="Show the chosen sessions in the public demo")
    def show_in_demo(self, request: HttpRequest, chosen: QuerySet[Session]) -> None:
        # Only the owner may publish a session in the demo, because all visitors see it. Otherwise staff could read any session.
        own = chosen.filter(owner_id=request.user.pk)
        for session in own:
            DemoSession.objects.get_or_create(session=session)
            record(Action.ADMIN_CHANGED, request, session=session, demo=True)
        self._report_count(
            request, len(own), "session of yours is shown in the public demo", "sessions of yours are shown in the public demo"
        )

    @admin.action(description="Remove the chosen sessions from the public demo")
    def hide_from_demo(self, request: HttpRequest, chosen: QuerySet[Session]) -> None:
        for session in chosen:
            DemoSession.objects.filter(session=session).delete()
            record(Action.ADMIN_CHANGED, request, session=session, demo=False)
        self._report_count(request, len(chosen), "session was removed from the public demo", "sessions are not in the public demo any more")

    def _report_count(self, request: HttpRequest, count: int, singular: str, plural: str) -> None:
        self.message_user(request, f"{count} {singular if count == 1 else plural}.", messages.SUCCESS if count else messages.WARNING)


class AuditLog(ForStaff):
    """The audit log, read-only."""

    list_display = ("at", "action", "user_name", "by_way_of", "address", "session", "facts")
    list_filter = ("action", "at")
    lookups = frozenset(("action__exact", "at__gte", "at__lt"))
    search_fields = ("user_name", "address", "session")
    list_per_page = 100


class Deletable(ForStaff):
    """Staff may revoke it."""

    def has_delete_permission(self, request: HttpRequest, _obj: Model | None = None) -> bool:
        return self.has_module_permission(request)

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        record(Action.ADMIN_CHANGED, request, deleted=str(obj))
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for obj in queryset:
            record(Action.ADMIN_CHANGED, request, deleted=str(obj))
        super().delete_queryset(request, queryset)


class Tokens(Deletable):
    list_display = ("name", "owner", "scope", "created_at", "expires_at")
    exclude = ("digest",)


class Invites(Deletable):
    list_display = ("pk", "session_id", "role", "created_by", "uses_left", "expires_at", "revoked_at")
    #: Hides the name of the session and the owner's note.
    fields = ("invited_to", "role", "created_by", "created_at", "uses_left", "expires_at", "revoked_at")
    readonly_fields = fields

    @admin.display(description="session")
    def invited_to(self, invite: Invite) -> str:
        return str(invite.session_id or "an account")


class Identities(Deletable):
    list_display = ("issuer", "subject", "user", "created_at")


class Users(_UserBase):
    """Django's user admin, for superusers."""

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:  # noqa: FBT001 -- Django's
        super().save_model(request, obj, form, change)
        record(Action.ADMIN_CHANGED, request, changed=str(obj), fields=list(form.changed_data))

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> tuple[list[str], dict[str, int], set[str], list[str]]:  # noqa: ARG002
        """The confirmation page of a deletion, with totals instead of single rows, of which a session has thousands."""
        sessions = Session.objects.filter(owner__in=objs).count()
        return [str(user) for user in objs], {"users": len(objs), "sessions": sessions}, set(), []

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        # Deleting through the database's rules would not stop their workers, and would read all rows at once.
        _delete_sessions(request, Session.objects.filter(owner=obj).select_related("owner"))
        record(Action.ADMIN_CHANGED, request, deleted=str(obj))
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        for user in queryset:
            self.delete_model(request, user)


def _delete_sessions(request: HttpRequest, sessions: QuerySet[Session]) -> int:
    """Delete sessions as their owners would, each with an entry in the audit log. Returns how many existed."""
    deleted = 0
    for session in sessions:
        record(Action.ADMIN_DELETED, request, session=session, owner=str(session.owner or ""))
        deleted += deletion.delete_session(session.pk)
    return deleted


def register(site: admin.AdminSite) -> None:
    """Register all models on a site."""
    site.register(HostedSession, Sessions)
    site.register(AuditEntry, AuditLog)
    site.register(Token, Tokens)
    site.register(Invite, Invites)
    site.register(Identity, Identities)
    site.register(User, Users)
