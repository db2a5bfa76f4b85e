"""People, tokens and links around one session, as the tests of the web need them."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from schedviz.sessions.models import Branch, Membership, Session, ShareLink
from schedviz.web.authentication import hashed
from schedviz.web.login import make_token


@dataclass(frozen=True)
class People:
    """Everybody who can stand in a relation to a session, with the headers and cookies that they come with."""

    session: Session
    owner: User
    editor: User
    viewer: User
    stranger: User

    def client(self, role: str) -> APIClient:
        """A client of REST that comes as `role`: a user, `<user>-token`, `<user>-read-token`, `link`, `editor-link`, `revoked-link`, `anonymous`."""
        client = APIClient(enforce_csrf_checks=False)
        name, _, how = role.partition("-")
        if role == "anonymous":
            return client
        if role.endswith("link"):
            self.open_link(client, role)
            return client
        user: User = getattr(self, name)
        if how in {"token", "read-token"}:
            secret = make_token(user, how, scope="read" if how == "read-token" else "write")
            client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
        else:
            client.force_login(user)
        return client

    def open_link(self, client: APIClient, role: str) -> None:
        """Open a share link in the client's browser, as its page does."""
        secret = f"secret-{role}"
        kind = Membership.Role.EDITOR if role == "editor-link" else Membership.Role.VIEWER
        link, _ = ShareLink.objects.get_or_create(session=self.session, digest=hashed(secret), defaults={"role": kind})
        assert client.get(f"/s/{self.session.pk}/", {"link": secret}).status_code == 302
        if role == "revoked-link":
            ShareLink.objects.filter(pk=link.pk).update(revoked_at=link.created_at)


def make_session(owner: User | None, name: str = "a session", **members: object) -> Session:
    """A session that was imported and is empty."""
    session = Session.objects.create(owner=owner, name=name, **{"status": Session.Status.READY, **members})
    Branch.objects.create(session=session, name="main")
    return session


@pytest.fixture
def people(db: None) -> People:
    users = {name: User.objects.create_user(name) for name in ("owner", "editor", "viewer", "stranger")}
    session = make_session(users["owner"])
    Membership.objects.create(session=session, user=users["editor"], role=Membership.Role.EDITOR)
    Membership.objects.create(session=session, user=users["viewer"], role=Membership.Role.VIEWER)
    return People(session=session, **users)


@pytest.fixture
def owner_client(people: People) -> APIClient:
    return people.client("owner")


def api(session_id: UUID | str, rest: str = "") -> str:
    """The address of a session in REST."""
    return f"/api/v1/sessions/{session_id}/{rest}"
