"""The admin pages: for staff only, an overview without session contents, and an audit log of what staff does."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from schedviz.sessions.models import Chunk, Session
from schedviz.sessions.redis import stream
from schedviz.web.accounts import admin_site
from schedviz.web.accounts.models import AuditEntry, DemoSession

pytestmark = pytest.mark.django_db

PAGES = ["", "accounts/hostedsession/", "accounts/auditentry/", "web/token/", "accounts/invite/", "accounts/identity/"]


@pytest.mark.parametrize("role", ["owner", "stranger", "link"])
@pytest.mark.parametrize("page", PAGES)
def test_users_who_are_not_staff_get_404(people, role, page):
    response = people.client(role).get(f"/admin/{page}", follow=True)

    assert b"schedviz administration" not in response.content.lower()
    assert response.status_code == 404 or response.redirect_chain[-1][0].startswith("/login/")


def test_anonymous_clients_are_sent_to_the_login_and_a_token_opens_no_admin_page(people):
    assert people.client("anonymous").get("/admin/", follow=True).redirect_chain[-1][0].startswith("/login/?next=/admin/")
    assert people.client("staff-token").get("/admin/", follow=True).redirect_chain[-1][0].startswith("/login/")


def test_logging_out_of_the_admin_leads_to_the_login_page(people):
    client = people.client("staff")

    assert client.post("/admin/logout/").headers["Location"] == "/login/"
    assert client.get("/admin/").status_code == 302


@pytest.mark.parametrize("page", PAGES)
def test_staff_can_open_the_admin_pages(people, page):
    people.client("owner-token").post(f"/api/v1/sessions/{people.session.pk}/invites/", {}, format="json")

    assert people.client("staff").get(f"/admin/{page}").status_code == 200


def test_the_session_overview_has_owner_state_and_size_but_no_name(people):
    people.session.name = "a secret name"
    people.session.save()
    page = people.client("staff").get("/admin/accounts/hostedsession/").content.decode()

    assert str(people.session.pk)[:8] in page
    assert "owner" in page
    assert "bytes" in page
    assert "a secret name" not in page
    detail = people.client("staff").get(f"/admin/accounts/hostedsession/{people.session.pk}/change/")
    assert detail.status_code == 200
    assert b"a secret name" not in detail.content


@pytest.mark.parametrize("page", PAGES)
def test_staff_cannot_filter_by_columns_that_a_list_does_not_offer(people, page):
    model = {f"{model._meta.app_label}/{model._meta.model_name}/": model for model in admin_site.site._registry}.get(page)
    lookups = [f"{field.name}{suffix}" for field in (model._meta.fields if model else ()) for suffix in ("__startswith", "__regex", "__0")]
    client = people.client("staff")

    found = [lookup for lookup in lookups if client.get(f"/admin/{page}?{lookup}=a").status_code != 400]

    assert found == []


def test_staff_can_filter_by_columns_that_a_list_offers(people):
    client = people.client("staff")

    for query in ("accounts/hostedsession/?status__exact=ready", "accounts/hostedsession/?created_at__gte=2026-01-01%2000:00:00%2B00:00"):
        assert client.get(f"/admin/{query}").status_code == 200
    assert client.get("/admin/accounts/auditentry/?action__exact=login").status_code == 200


def test_no_admin_page_of_an_invite_names_its_session_or_shows_its_note(people):
    people.session.name = "a secret name"
    people.session.save()
    made = people.client("owner-token").post(f"/api/v1/sessions/{people.session.pk}/invites/", {"note": "for the auditors"}, format="json")
    client = people.client("staff")

    for page in ("", f"{made.json()['id']}/change/", f"{made.json()['id']}/delete/", f"{made.json()['id']}/history/"):
        response = client.get(f"/admin/accounts/invite/{page}")
        assert response.status_code == 200
        assert b"a secret name" not in response.content
        assert b"for the auditors" not in response.content


def do(people, action: str, role: str = "staff"):
    return people.client(role).post(
        "/admin/accounts/hostedsession/", {"action": action, "_selected_action": [str(people.session.pk)]}, follow=True
    )


def test_staff_can_cancel_and_delete(people):
    Session.objects.update(status=Session.Status.IMPORTING)
    assert b"1 import cancelled" in do(people, "cancel").content
    assert b"1 session deleted" in do(people, "delete_them").content

    assert not Session.objects.exists()
    assert list(AuditEntry.objects.filter(action__startswith="admin").order_by("pk").values_list("action", "user_name")) == [
        ("admin_cancelled", "staff"),
        ("admin_deleted", "staff"),
    ]


def test_users_who_are_not_staff_cannot_delete_on_the_admin_pages(people):
    do(people, "delete_them", "stranger")

    assert Session.objects.exists()


def test_staff_can_show_only_their_own_sessions_in_the_demo(people):
    do(people, "show_in_demo")
    assert not DemoSession.objects.exists(), "only its owner may publish it"
    people.session.owner = people.staff
    people.session.save()
    do(people, "show_in_demo")
    assert DemoSession.objects.get().session_id == people.session.pk
    do(people, "hide_from_demo")
    assert not DemoSession.objects.exists()


def test_the_audit_log_cannot_be_changed(people):
    entry = AuditEntry.objects.create(action="login", user_name="owner")
    User.objects.filter(username="staff").update(is_superuser=True)
    staff = people.client("staff")

    assert staff.get("/admin/accounts/auditentry/add/").status_code == 403
    assert staff.post(f"/admin/accounts/auditentry/{entry.pk}/delete/", {"post": "yes"}).status_code == 403
    assert staff.post(f"/admin/accounts/auditentry/{entry.pk}/change/", {"action": "x"}).status_code == 403
    entry.refresh_from_db()
    assert entry.action == "login"


def test_only_superusers_manage_users(people):
    assert people.client("staff").get("/admin/auth/user/").status_code == 403
    User.objects.filter(username="staff").update(is_superuser=True)
    assert people.client("staff").get("/admin/auth/user/").status_code == 200


@pytest.fixture
def superuser(people):
    User.objects.filter(username="staff").update(is_superuser=True)
    return people.client("staff")


def with_history(session: Session) -> None:
    """Store the rows of a session that ran."""
    Chunk.objects.create(session=session, number=1, first_event=1, last_event=2, first_cycle=0, last_cycle=1, data=b"a frame")


def told_of_deletions() -> list[tuple[str, str, str]]:
    entries = AuditEntry.objects.filter(action__startswith="admin").order_by("pk")
    return [(entry.action, str(entry.session or ""), entry.facts.get("deleted", "")) for entry in entries]


def test_deleting_a_user_deletes_their_sessions_completely(people, superuser, monkeypatch):
    gone = []
    monkeypatch.setattr(stream, "delete_keys", gone.append)
    with_history(people.session)
    page = f"/admin/auth/user/{people.owner.pk}/delete/"
    html = superuser.get(page).content.decode()
    assert "Sessions: 1" in html
    assert "chunk" not in html

    assert superuser.post(page, {"post": "yes"}).status_code == 302

    assert not User.objects.filter(username="owner").exists()
    assert not Session.objects.exists()
    assert not Chunk.objects.exists()
    assert gone == [people.session.pk]
    assert told_of_deletions() == [("admin_deleted", str(people.session.pk), ""), ("admin_changed", "", "owner")]


def test_each_of_several_deleted_users_is_audited(people, superuser):
    chosen = [str(people.owner.pk), str(people.viewer.pk)]
    superuser.post("/admin/auth/user/", {"action": "delete_selected", "_selected_action": chosen, "post": "yes"})

    assert not User.objects.filter(pk__in=chosen).exists()
    assert not Session.objects.exists()
    assert sorted(deleted for action, _, deleted in told_of_deletions() if action == "admin_changed") == ["owner", "viewer"]
