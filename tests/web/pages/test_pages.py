"""Pages, and logins without a password."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from schedviz.web.auth.login import LOCAL_USER, ensure_local_token, make_login_url, redeem
from schedviz.web.models import LoginLink, Token
from schedviz.web.pages import assets

pytestmark = pytest.mark.django_db


def test_a_login_link_logs_in_once(client):
    url = make_login_url("http://testserver")
    other = Client()

    first = client.get(url)
    again = client.get(url)
    second = other.get(url)

    assert first.status_code == 302
    assert client.get("/sessions/").status_code == 200
    assert again.status_code == 302
    assert second.status_code == 403
    assert b"already used" in second.content
    assert other.get("/sessions/").status_code == 302


def test_only_the_hash_of_a_login_link_is_kept():
    secret = make_login_url("http://x").partition("once=")[2]

    assert secret not in str(LoginLink.objects.values())


def test_a_login_link_expires():
    secret = make_login_url("http://x").partition("once=")[2]
    LoginLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    assert redeem(secret, "a browser") is None


def test_the_browser_that_used_a_login_link_may_use_it_again_for_a_minute(client):
    url = make_login_url("http://testserver")
    client.get(url)
    del client.cookies[settings.SESSION_COOKIE_NAME]

    again = client.get(url)
    LoginLink.objects.update(used_at=timezone.now() - timedelta(seconds=61))
    del client.cookies[settings.SESSION_COOKIE_NAME]
    late = client.get(url)

    assert (again.status_code, again["Location"]) == (302, "/")
    assert late.status_code == 403


def test_a_double_click_on_a_login_link_logs_in_although_the_first_response_is_never_read(client):
    url = make_login_url("http://testserver")
    clicked = {"Sec-Fetch-Mode": "navigate"}

    first = client.get(url, headers=clicked)
    client.get(first["Location"], headers=clicked)
    # Its cookies were not read either.
    del client.cookies[settings.SESSION_COOKIE_NAME]
    second = client.get(url, headers=clicked)

    assert first["Location"].endswith("&again=1")
    assert (second.status_code, second["Location"]) == (302, "/")
    assert client.get("/sessions/").status_code == 200
    assert Client().get(url, headers=clicked, follow=True).status_code == 403


def test_the_local_token_is_kept_while_it_is_valid():
    secret = ensure_local_token(None)

    assert ensure_local_token(secret) == secret
    assert ensure_local_token("something else") != secret
    assert Token.objects.get().owner.get_username() == LOCAL_USER
    assert secret not in str(Token.objects.values())


def test_a_token_that_expired_or_was_revoked_is_refused(people):
    client = people.client("owner-token")
    assert client.get("/api/v1/sessions/").status_code == 200

    Token.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert client.get("/api/v1/sessions/").status_code == 401

    Token.objects.all().delete()
    assert client.get("/api/v1/sessions/").status_code == 401


def test_the_token_of_a_deactivated_user_is_refused(people):
    client = people.client("owner-token")
    people.owner.is_active = False
    people.owner.save()

    assert client.get("/api/v1/sessions/").status_code == 401


def test_users_start_on_the_start_page(people):
    for role in ("owner", "stranger"):
        page = people.client(role).get("/")
        assert page.status_code == 200
        assert 'data-page="home"' in page.content.decode()


def test_anonymous_clients_are_sent_to_their_newest_shared_session_or_to_the_login(people):
    assert people.client("link").get("/")["Location"] == f"/s/{people.session.pk}/"
    assert people.client("anonymous").get("/")["Location"] == "/login/"


def test_a_session_is_shown_to_users_who_may_see_it(people):
    address = f"/s/{people.session.pk}/"

    for role in ("owner", "viewer", "link", "editor-link"):
        page = people.client(role).get(address)
        assert page.status_code == 200
        assert f'data-session="{people.session.pk}"' in page.content.decode()
    assert people.client("stranger").get(address).status_code == 404
    assert people.client("revoked-link").get(address)["Location"].startswith("/login/")
    assert people.client("anonymous").get(address)["Location"] == f"/login/?next={address}"


def test_a_moment_in_the_address_survives_a_share_link_and_a_login(people):
    guest = Client()
    address = f"/s/{people.session.pk}/"
    made = people.client("owner").post(f"/api/v1{address.replace('/s/', '/sessions/')}links/", {"role": "viewer"}, format="json").json()

    assert (
        people.client("anonymous").get(f"{address}?at=7&pod=default/a")["Location"] == f"/login/?next={address}%3Fat%3D7%26pod%3Ddefault/a"
    )
    assert guest.get(f"{made['url']}&at=7&pod=default/a")["Location"] == f"{address}?at=7&pod=default%2Fa"
    assert guest.get(made["url"])["Location"] == address


def test_hostile_names_are_escaped(people):
    people.session.name = "<script>alert(1)</script>\"'"
    people.session.save()

    assert b"<script>alert" not in people.client("owner").get(f"/s/{people.session.pk}/").content


def test_a_login_redirects_only_to_this_server(people, client):
    people.owner.set_password("a long password")
    people.owner.save()
    form = {"username": "owner", "password": "a long password"}

    assert client.post("/login/", form | {"next": "https://evil.example/"})["Location"] == "/"
    assert client.post("/login/", form | {"next": f"/s/{people.session.pk}/"})["Location"] == f"/s/{people.session.pk}/"
    assert client.post("/login/", form | {"password": "wrong"}).status_code == 200


@pytest.mark.parametrize(
    "following",
    ["abc", "session-page", "logout", "//evil.example/", "///evil.example", "/\\evil.example", "https://evil.example/", "/" + "a" * 20_000],
)
def test_a_login_leads_to_the_start_page_if_its_next_page_is_on_another_server(people, client, following):
    cache.clear()
    people.owner.set_password("a long password")
    people.owner.save()

    by_password = client.post("/login/", {"username": "owner", "password": "a long password", "next": following})
    by_link = Client().get("/login/", {"once": make_login_url("").partition("once=")[2], "next": following})

    assert (by_password.status_code, by_password["Location"]) == (302, "/")
    assert (by_link.status_code, by_link["Location"]) == (302, "/")


def test_the_built_front_end_is_found_through_its_manifest(tmp_path, monkeypatch):
    manifest = tmp_path / "manifest.json"
    monkeypatch.setattr(assets, "MANIFEST", manifest)
    assert assets.assets().script == ""

    manifest.write_text(
        '{"src/main.ts": {"file": "assets/main-12345678.js", "css": ["assets/a.css"], "imports": ["_x.js"]},'
        ' "_x.js": {"file": "assets/x.js", "css": ["assets/x.css"]}}'
    )

    assert assets.assets().script == "/static/app/assets/main-12345678.js"
    assert assets.assets().styles == ["/static/app/assets/x.css", "/static/app/assets/a.css"]


def test_passwords_can_be_tried_ten_times_a_minute(client):
    cache.clear()

    responses = [client.post("/login/", {"username": "owner", "password": f"{n}"}).status_code for n in range(11)]

    assert responses == [200] * 10 + [429]
    cache.clear()


def test_a_share_link_grants_access_until_it_is_revoked(people):
    owner, guest = people.client("owner"), Client()
    address = f"/api/v1/sessions/{people.session.pk}/"

    made = owner.post(f"{address}links/", {"role": "viewer"}, format="json").json()
    listed = owner.get(f"{address}links/").json()["results"]
    opened = guest.get(made["url"])

    assert opened["Location"] == f"/s/{people.session.pk}/"
    assert guest.get(opened["Location"]).status_code == 200
    assert guest.get(address).json()["role"] == "viewer"
    assert [(link["id"], link["url"]) for link in listed] == [(made["id"], None)]

    assert owner.delete(f"{address}links/{made['id']}/").status_code == 204
    assert guest.get(address).status_code == 404
    assert owner.get(f"{address}links/").json()["results"] == []


@pytest.mark.parametrize("page", ["sessions", "cases", "experiments", "lessons"])
def test_the_pages_of_lists_require_a_login_that_keeps_the_whole_address(people, page):
    location = people.client("anonymous").get(f"/{page}/?theme=dark")["Location"]
    assert location == f"/login/?next=/{page}/%3Ftheme%3Ddark"


def test_the_compare_page_requires_a_login_that_keeps_its_two_sides(people):
    address = "/compare/?a=x&b=y"
    assert b'data-page="compare"' in people.client("owner").get(address).content
    assert people.client("anonymous").get(address)["Location"] == "/login/?next=/compare/%3Fa%3Dx%26b%3Dy"


def test_a_page_that_does_not_exist_links_the_start_page(client):
    response = client.get("/no-such-page/")
    assert response.status_code == 404
    assert b'<a href="/">Start page</a>' in response.content


def test_the_path_of_a_session_in_the_rest_api_redirects_to_its_page(client):
    address = "00000000-0000-0000-0000-000000000001/?show=overview"
    response = client.get(f"/sessions/{address}")
    assert (response.status_code, response["Location"]) == (302, f"/s/{address}")
