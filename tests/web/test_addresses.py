"""Client addresses as keys of rate limits."""

from __future__ import annotations

import pytest
from django.test import Client

from schedviz.web.addresses import network_of


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/56"),
        ("2001:db8:1:2::9", "2001:db8:1::/56"),
        ("fe80::1%eth0", "fe80::/56"),
        ("192.0.2.7:51234", "192.0.2.7"),
        ("[2001:db8:1:2::9]:51234", "2001:db8:1::/56"),
        ("[2001:db8:1:2::9]", "2001:db8:1::/56"),
        ("", ""),
        ("unknown", "unknown"),
    ],
)
def test_ipv6_addresses_count_by_their_network(address: str, network: str) -> None:
    assert network_of(address) == network


@pytest.mark.django_db
def test_one_ipv6_network_has_the_attempts_of_one_address(settings, people) -> None:
    settings.LOGINS_PER_MINUTE = 3
    attempts = [
        Client(REMOTE_ADDR=f"2001:db8:1:2::{n:x}").post("/login/", {"username": "owner", "password": "wrong"}).status_code
        for n in range(1, 6)
    ]

    assert attempts == [200, 200, 200, 429, 429]
    assert Client(REMOTE_ADDR="2001:db8:2:3::1").post("/login/", {"username": "owner", "password": "wrong"}).status_code == 200
