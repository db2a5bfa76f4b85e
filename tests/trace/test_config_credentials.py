"""Credentials of extenders are replaced by placeholders."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.trace.config_credentials import OMITTED_KEY, credentials_in, without_credentials


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
    "given",
    [
        None,
        {},
        7,
        {"extenders": None},
        {"extenders": ["text", {"urlPrefix": 7, "tlsConfig": {"keyData": None}}, {"tlsConfig": []}]},
        config(urlPrefix="http://extender/a@b", tlsConfig={"insecure": True, "keyFile": "/etc/key.pem"}),
        without_credentials(config(urlPrefix="https://ada:secret@extender/", tlsConfig={"keyData": "aw=="})),
    ],
)
def test_a_configuration_without_credentials_and_one_of_another_form_stay_as_they_are(given: Any) -> None:
    assert without_credentials(given) is given
    assert list(credentials_in(given)) == []
