"""Credentials of extenders are replaced by placeholders."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.trace.config_credentials import OMITTED_KEY, credentials_in, without_credentials, without_users_in_urls


def config(**extender: Any) -> dict[str, Any]:
    return {"kind": "KubeSchedulerConfiguration", "extenders": [{"filterVerb": "filter", **extender}]}


def test_a_private_key_and_a_user_in_a_url_are_replaced() -> None:
    given = config(urlPrefix="https://ada:secret@extender:8443/v1?q=a@b", tlsConfig={"certData": "Yw==", "keyData": "aw=="})

    assert without_credentials(given) == config(
        urlPrefix="https://omitted@extender:8443/v1?q=a@b", tlsConfig={"certData": "Yw==", "keyData": OMITTED_KEY}
    )
    assert list(credentials_in({"variants": [{"config": given}]})) == [
        "variants[0].config.extenders[0].urlPrefix",
        "variants[0].config.extenders[0].tlsConfig",
    ]


@pytest.mark.parametrize(
    ("url", "stored"),
    [
        ('https://ada:a/b?c#d\\e"f g\t@extender:80/v1', "https://omitted@extender:80/v1"),
        ("https://ada:a@b@extender/v1?q=a@b", "https://omitted@extender/v1?q=a@b"),
        ("https:///ada:secret@extender", "https://omitted@extender"),
        ("ada:secret@extender:80", "omitted@extender:80"),
        ("//ada:secret@extender", "omitted@extender"),
        ("https:ada:secret@extender", "omitted@extender"),
        ("https:\\\\ada:secret@extender", "omitted@extender"),
    ],
)
def test_a_user_is_replaced_in_a_mistyped_url(url: str, stored: str) -> None:
    assert without_credentials(config(urlPrefix=url)) == config(urlPrefix=stored)


@pytest.mark.parametrize("text", ["a" * 1_500_000, "a://" * 400_000, "a@" * 700_000, "://" * 500_000])
def test_a_long_text_is_searched_once(text: str) -> None:
    # In quadratic time, this would take hours.
    assert without_users_in_urls(text) == text
    assert without_credentials(config(urlPrefix=text))["extenders"][0]["urlPrefix"].endswith(text[-1])


@pytest.mark.parametrize(
    "given",
    [
        None,
        {},
        7,
        {"extenders": None},
        {"extenders": ["text", {"urlPrefix": 7, "tlsConfig": {"keyData": None}}, {"tlsConfig": []}]},
        config(urlPrefix="http://extender/a@b", tlsConfig={"insecure": True, "keyFile": "/etc/key.pem"}),
        config(urlPrefix="http://[::1]:80/a@b"),
        config(urlPrefix="extender/a@b"),
        without_credentials(config(urlPrefix="https://ada:secret@extender/", tlsConfig={"keyData": "aw=="})),
    ],
)
def test_a_configuration_without_credentials_and_one_of_another_form_stay_as_they_are(given: Any) -> None:
    assert without_credentials(given) is given
    assert list(credentials_in(given)) == []
