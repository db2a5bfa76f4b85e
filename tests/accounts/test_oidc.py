"""Signing in with an OpenID Connect provider on a real socket, and with one that forges responses."""

from __future__ import annotations

import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as LoginSession
from django.test import Client

from schedviz.web.accounts import oidc, oidc_documents
from schedviz.web.accounts.models import Identity
from tests.accounts.oidc_provider import CLIENT_ID, CLIENT_SECRET, Provider

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def listening() -> Iterator[Provider]:
    with Provider().running() as provider:
        yield provider


@pytest.fixture
def provider(listening: Provider, settings) -> Provider:
    settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = listening.issuer, CLIENT_ID, CLIENT_SECRET
    listening.who, listening.cheat, listening.forge, listening.described = {"sub": "1234", "preferred_username": "ada"}, {}, "", {}
    listening.padding, listening.moved_to, listening.asked = {}, "", []
    oidc._client.cache_clear()
    return listening


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def sent_back(location: str) -> str:
    """The URL to which the provider redirects the browser."""
    try:
        urllib.request.build_opener(_Stay).open(location, timeout=10)
    except urllib.error.HTTPError as response:
        return response.headers["Location"].removeprefix("http://testserver")
    raise AssertionError("no redirect")


def sign_in(client: Client, following: str = "/sessions/"):
    begun = client.get("/oidc/login/", {"next": following})
    assert begun.status_code == 302, begun.content
    return client.get(sent_back(begun["Location"]))


def test_a_user_of_the_provider_gets_an_account_and_is_signed_in(provider, audit):
    client = Client()

    assert sign_in(client)["Location"] == "/sessions/"
    assert client.get("/sessions/").status_code == 200
    user = User.objects.get(username="ada")
    assert not user.has_usable_password()
    assert not user.is_staff
    assert Identity.objects.get().subject == "1234"
    assert audit() == ["account_made", "login"]
    sign_in(Client())
    assert audit() == ["account_made", "login", "login"]


def test_a_user_is_identified_by_the_subject_and_not_by_the_name(provider):
    taken = User.objects.create_user("ada", is_staff=True)
    sign_in(Client())
    made = Identity.objects.get().user
    assert made != taken
    assert made.get_username() == "ada-2"

    provider.who = {"sub": "1234", "preferred_username": "grace"}
    sign_in(Client())
    assert Identity.objects.get().user == made
    assert User.objects.count() == 2


@pytest.mark.parametrize("name", ["local", "\uff4cocal"])
def test_a_user_of_the_provider_cannot_take_the_name_of_the_local_user(provider, name):
    provider.who["preferred_username"] = name

    sign_in(Client())

    assert User.objects.get().username == "local-2"


@pytest.mark.parametrize(
    ("cheat", "forge"),
    [
        ({}, "key"),
        ({}, "none"),
        ({"iss": "https://evil.example"}, ""),
        ({"aud": "another client"}, ""),
        ({"aud": []}, ""),
        ({"aud": ""}, ""),
        ({"aud": [CLIENT_ID, "another client"]}, ""),
        ({"nonce": "of another login"}, ""),
        ({"exp": int(time.time()) - 3600}, ""),
        ({"sub": ""}, ""),
    ],
    ids=[
        "another key",
        "no signature",
        "another issuer",
        "another audience",
        "no audience",
        "an empty audience",
        "an audience of several without azp",
        "another nonce",
        "expired",
        "nobody",
    ],
)
def test_a_token_for_another_login_is_refused(provider, audit, cheat, forge):
    provider.cheat, provider.forge = cheat, forge
    client = Client()

    assert sign_in(client).status_code == 403
    assert client.get("/sessions/").status_code == 302
    assert not User.objects.exists()
    assert audit() == ["login_failed"]


@pytest.mark.parametrize("described", [{"issuer": "https://evil.example"}, {"issuer": None}], ids=["another issuer", "no issuer"])
def test_a_configuration_with_another_issuer_is_refused(provider, audit, described):
    """OpenID Connect Discovery 1.0, 4.3: otherwise the token's issuer is compared with whatever the document names."""
    provider.described, provider.cheat = described, {"iss": "https://evil.example"}

    assert Client().get("/oidc/login/").status_code == 403
    assert audit() == []


@pytest.mark.parametrize("listed", [["RS256", "none"], ["none"], ["HS256"], None], ids=str)
def test_an_unsigned_token_is_refused_even_if_the_provider_lists_the_algorithm(provider, listed):
    provider.described, provider.forge = {"id_token_signing_alg_values_supported": listed}, "none"

    assert sign_in(Client()).status_code == 403
    assert not User.objects.exists()


def test_a_key_that_was_replaced_under_the_same_id_is_fetched_again(provider, monkeypatch):
    assert sign_in(Client()).status_code == 302

    monkeypatch.setattr(provider, "key", provider.other_key)

    assert sign_in(Client()).status_code == 302


def test_a_key_that_the_provider_removed_is_eventually_refused(provider, monkeypatch):
    assert sign_in(Client()).status_code == 302
    leaked = provider.key
    monkeypatch.setattr(provider, "key", provider.other_key)
    monkeypatch.setattr(provider, "other_key", leaked)
    provider.forge = "key"

    monkeypatch.setattr(oidc_documents.time, "monotonic", lambda now=time.monotonic: now() + oidc_documents.VALID_SECONDS)

    assert sign_in(Client()).status_code == 403


def test_a_response_for_another_browser_is_refused(provider):
    """Login CSRF: the attacker's code in the victim's browser."""
    attacker, victim = Client(), Client()
    back = sent_back(attacker.get("/oidc/login/")["Location"])

    assert victim.get(back).status_code == 403
    assert attacker.get(back).status_code == 302
    assert Client().get(back).status_code == 403
    assert attacker.get(back).status_code == 403, "a code and its state can be used once"


@pytest.mark.parametrize("query", ["", "?error=access_denied&state=x", "?code=x", "?code=x&state=y", "?state[]=1&code="])
def test_a_callback_that_is_not_from_the_provider_is_refused(provider, query):
    assert Client().get(f"/oidc/callback/{query}").status_code == 403


def test_a_deactivated_user_stays_locked_out(provider):
    sign_in(Client())
    User.objects.update(is_active=False)

    assert sign_in(Client()).status_code == 403


def test_operators_can_restrict_who_may_sign_in(provider, settings):
    settings.OIDC_GROUP = "scheduling"
    assert sign_in(Client()).status_code == 403
    provider.who["groups"] = ["others", "scheduling"]
    assert sign_in(Client()).status_code == 302

    settings.OIDC_MAKES_ACCOUNTS = False
    assert sign_in(Client()).status_code == 302
    provider.who["sub"] = "5678"
    assert sign_in(Client()).status_code == 403


def test_staff_status_follows_membership_of_the_staff_group(provider, settings, audit):
    settings.OIDC_STAFF_GROUP = "operators"
    provider.who["groups"] = ["operators"]
    sign_in(Client())
    assert User.objects.get().is_staff

    provider.who["groups"] = []
    sign_in(Client())
    assert not User.objects.get().is_staff
    sign_in(Client())
    assert audit() == ["account_made", "staff_changed", "login", "staff_changed", "login", "login"]


@pytest.mark.parametrize(
    "following", ["https://evil.example/", "//evil.example/", "/\\evil.example/", "javascript:alert(1)", "abc", "session-page", "logout"]
)
def test_a_login_redirects_only_to_paths_of_this_server(provider, following):
    assert sign_in(Client(), following)["Location"] == "/"


def test_a_stored_next_page_of_an_older_release_is_validated_again(provider):
    client = Client()
    back = sent_back(client.get("/oidc/login/")["Location"])
    session = client.session
    session["schedviz_oidc_next"] = "session-page"
    session.save()

    assert client.get(back)["Location"] == "/"


def test_a_token_response_has_the_size_limit_of_documents(provider):
    provider.padding = {"more": "x" * oidc_documents.DOCUMENT_BYTES}
    assert sign_in(Client()).status_code == 403
    provider.padding = {}
    assert sign_in(Client())["Location"] == "/sessions/"


def test_the_code_and_the_secret_are_not_sent_to_the_target_of_a_redirect(provider):
    provider.moved_to = "/elsewhere"
    assert sign_in(Client()).status_code == 403
    assert provider.asked == ["/token"]


def test_a_name_that_grows_when_it_is_normalized_is_truncated(provider):
    provider.who["preferred_username"] = "\ufdfa" * 140

    sign_in(Client())

    assert 0 < len(User.objects.get().username) <= 140


def test_an_unresponsive_provider_is_handled(provider, settings, audit):
    settings.OIDC_ISSUER = "http://127.0.0.1:1"

    assert Client().get("/oidc/login/").status_code == 403
    assert audit() == []
    assert not LoginSession.objects.exists()


def test_logins_per_address_are_limited_per_minute(provider, settings):
    settings.OIDC_LOGINS_PER_MINUTE = 2

    begun = [Client().get("/oidc/login/") for _ in range(4)]
    ended = [Client().get("/oidc/callback/?code=x&state=y").status_code for _ in range(4)]

    assert [one.status_code for one in begun] == [302, 302, 429, 429]
    assert b"Too many sign-in attempts" in begun[-1].content
    assert ended == [403, 403, 429, 429]
    assert LoginSession.objects.count() == 2


def test_an_unsolicited_response_creates_no_session_and_no_audit_entry(provider, audit):
    stranger = Client()

    for query in ("?code=x&state=y", "?error=access_denied&state=y", ""):
        assert stranger.get(f"/oidc/callback/{query}").status_code == 403

    assert audit() == []
    assert not LoginSession.objects.exists()


def test_a_refusal_by_the_provider_is_audited_once(provider, audit):
    client = Client()
    state = urllib.parse.parse_qs(urllib.parse.urlsplit(client.get("/oidc/login/")["Location"]).query)["state"][0]

    for _ in range(3):
        assert client.get(f"/oidc/callback/?error=access_denied&state={state}").status_code == 403

    assert audit() == ["login_failed"]


def test_a_started_login_expires_after_minutes_and_a_completed_one_after_days(provider):
    client = Client()
    back = sent_back(client.get("/oidc/login/")["Location"])
    assert client.session.get_expiry_age() <= 600

    assert client.get(back).status_code == 302
    assert client.session.get_expiry_age() > 24 * 3600


def test_a_password_login_replaces_the_short_expiry_of_a_started_login(provider, people):
    people.owner.set_password("a long password")
    people.owner.save()
    client = people.client("anonymous")
    client.get("/oidc/login/")

    assert client.post("/login/", {"username": "owner", "password": "a long password"}).status_code == 302
    assert client.session.get_expiry_age() > 24 * 3600


@pytest.mark.parametrize("is_first", [True, False])
def test_a_share_link_is_remembered_for_days_despite_a_started_login(provider, people, settings, is_first):
    client = people.client("link") if is_first else people.client("anonymous")
    client.get("/oidc/login/")
    if not is_first:
        people.open_link(client, "link")

    assert client.session.get_expiry_age() <= 600
    client.session.flush()
    assert client.get(f"/s/{people.session.pk}/").status_code == 200
    assert client.cookies[settings.LINKS_COOKIE]["max-age"] > 24 * 3600


def test_a_browser_can_start_a_few_logins_in_parallel_without_growing_its_session(provider):
    client = Client()
    begun = [client.get("/oidc/login/")["Location"] for _ in range(8)]

    assert len([key for key in client.session.keys() if key.startswith("_state_")]) == 3  # noqa: SIM118
    assert client.get(sent_back(begun[0])).status_code == 403
    assert client.get(sent_back(begun[-3])).status_code == 302, "the login of another tab still works"


def test_openid_connect_is_off_unless_configured():
    assert Client().get("/oidc/login/").status_code == 404
    assert Client().get("/oidc/callback/").status_code == 404
    assert b"/oidc/login/" not in Client().get("/login/").content


def test_the_login_page_links_to_the_provider(provider, settings):
    settings.OIDC_NAME = "Example Login"

    page = Client().get("/login/?next=/sessions/").content.decode()
    assert "/oidc/login/?next=/sessions/" in page
    assert "Example Login" in page
