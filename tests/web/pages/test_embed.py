"""A panel at an address of its own, and inside another site: by a share link, read-only, without a cookie."""

from __future__ import annotations

import pytest
from django.test import Client

from schedviz.sessions.models import Membership, ShareLink
from schedviz.web.auth.actors import Verb
from schedviz.web.auth.authentication import hashed
from schedviz.web.auth.permissions import holder_of, may
from schedviz.web.live.handshake import Credentials, credentials_of

SECRET = "a-secret-of-a-link"


@pytest.fixture
def link(people):
    return ShareLink.objects.create(session=people.session, digest=hashed(SECRET), role=Membership.Role.EDITOR)


@pytest.fixture
def address(people):
    return f"/embed/{people.session.pk}/cache/"


def test_each_panel_has_a_page_for_users_who_may_see_the_session(people):
    for panel in ("api", "queue", "cycle", "cache", "loop"):
        page = people.client("viewer").get(f"/s/{people.session.pk}/panel/{panel}/")
        assert page.status_code == 200
        assert f'data-panel="{panel}"' in page.content.decode()
        assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    assert people.client("viewer").get(f"/s/{people.session.pk}/panel/no-such/").status_code == 404
    assert people.client("stranger").get(f"/s/{people.session.pk}/panel/cache/").status_code == 404
    assert people.client("anonymous").get(f"/s/{people.session.pk}/panel/cache/")["Location"].startswith("/login/")


def test_an_embedded_panel_sets_no_cookie_and_names_the_sites_that_may_show_it(people, link, address, settings):
    settings.EMBED_ORIGINS = ["https://wiki.example", "https://talks.example"]

    page = Client().get(address, {"link": SECRET})

    assert page.status_code == 200
    assert f'data-session="{people.session.pk}"' in page.content.decode()
    assert "data-embedded" in page.content.decode()
    assert not page.cookies
    assert "frame-ancestors https://wiki.example https://talks.example" in page["Content-Security-Policy"]
    assert "X-Frame-Options" not in page
    assert page["Referrer-Policy"] == "no-referrer"


def test_no_site_may_embed_it_until_the_server_allows_that(link, address):
    page = Client().get(address, {"link": SECRET})

    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    assert page["X-Frame-Options"] == "DENY"


def test_a_login_does_not_open_an_embedded_panel_without_a_valid_link(people, link, address):
    assert people.client("owner").get(address).status_code == 404
    assert people.client("owner").get(address, {"link": "another"}).status_code == 404
    link.revoked_at = link.created_at
    link.save()
    page = Client().get(address, {"link": SECRET})
    assert page.status_code == 404
    assert "share link" in page.content.decode()
    assert not page.cookies


def test_the_secret_of_a_link_reads_the_session_over_rest_and_changes_nothing(people, link):
    client = people.client("anonymous")
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {SECRET}")
    base = f"/api/v1/sessions/{people.session.pk}/"

    assert client.get(base).json()["id"] == str(people.session.pk)
    assert client.post(f"{base}commands/", {"op": "pause"}, format="json").status_code == 403, "although the link is an editor's"
    assert [one["id"] for one in client.get("/api/v1/sessions/").json()["results"]] == [str(people.session.pk)]
    link.revoked_at = link.created_at
    link.save()
    assert client.get(base).status_code == 401


@pytest.mark.parametrize(
    "scope",
    [
        {"query_string": b"from=3", "subprotocols": ["v1.schedviz", f"link.schedviz.{SECRET}"]},
        # As pages of earlier releases do.
        {"query_string": f"from=3&link={SECRET}".encode(), "subprotocols": []},
    ],
    ids=["subprotocol", "address"],
)
def test_a_link_opens_a_read_only_socket(people, link, scope):
    result = credentials_of({"headers": [(b"cookie", b"schedviz_login=whatever")], **scope})

    assert result == Credentials(link=SECRET)
    assert may(holder_of(SECRET), Verb.SEE, people.session)
    assert not may(holder_of(SECRET), Verb.COMMAND, people.session)
    assert not may(holder_of("another"), Verb.SEE, people.session)
