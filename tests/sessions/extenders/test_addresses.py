"""The addresses that extender hosts may resolve to. The connection uses the address that was checked."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from schedviz.engine.extenders.calls import ExtenderCall, ExtenderError
from schedviz.sessions.extenders.addresses import EVERYWHERE, NETWORKS_SETTING, AddressPolicy
from schedviz.sessions.extenders.http import HttpTransport
from tests.extender_server import ExtenderServer

METADATA = "169.254.169.254"


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        (METADATA, "link-local"),
        ("fe80::1", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("127.0.0.1", "loopback"),
        ("127.8.8.8", "loopback"),
        ("::1", "loopback"),
        ("10.0.0.1", "private"),
        ("172.16.0.1", "private"),
        ("192.168.1.1", "private"),
        ("fd00:ec2::254", "private"),
        ("0.0.0.0", "private"),
        ("::", "private"),
        ("100.64.0.1", "special"),
        ("224.0.0.1", "multicast"),
        ("ff02::1", "multicast"),
        (f"::ffff:{METADATA}", "link-local"),
        ("64:ff9b::a9fe:a9fe", "link-local"),
        ("2002:a9fe:a9fe::", "link-local"),
        ("64:ff9b::7f00:1", "loopback"),
        ("192.0.0.1", "private"),
        ("192.0.0.192", "special"),
        ("192.88.99.1", "special"),
        ("fec0::1", "private"),
        ("64:ff9b:1::7f00:1", "special"),
        ("::127.0.0.1", "loopback"),
        (f"::{METADATA}", "link-local"),
        ("::ffff:0:127.0.0.1", "loopback"),
        ("::ffff:0:10.0.0.1", "private"),
        ("3fff::1", "special"),
        ("5f00::1", "special"),
        ("2001:db8::1", "private"),
        ("4000::1", "special"),
    ],
)
def test_a_host_name_may_not_resolve_to_a_non_public_address(address: str, kind: str) -> None:
    reason = AddressPolicy().why_not("extender.example", address)

    assert reason == f"its name resolves to a {kind} address, which {NETWORKS_SETTING} does not include"


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "::ffff:0:8.8.8.8", "2002:808:808::1"]
)
def test_a_host_name_may_resolve_to_a_public_address(address: str) -> None:
    assert AddressPolicy().why_not("extender.example", address) == ""


def test_the_operator_can_allow_networks() -> None:
    policy = AddressPolicy(["10.0.0.0/8", "fd00::/8"])

    assert policy.why_not("extender.example", "10.1.2.3") == ""
    assert policy.why_not("extender.example", "fd00::5") == ""
    assert policy.why_not("extender.example", "::ffff:10.1.2.3") == ""
    assert policy.why_not("extender.example", "192.168.0.1")
    assert policy.why_not("extender.example", METADATA)
    assert AddressPolicy(EVERYWHERE).why_not("extender.example", "::1") == ""


def test_a_listed_address_or_localhost_is_allowed() -> None:
    assert AddressPolicy().why_not("10.0.0.1", "10.0.0.1") == ""
    assert AddressPolicy().why_not("localhost", "127.0.0.1") == ""
    assert AddressPolicy().why_not("localhost", METADATA)


@pytest.fixture
def server() -> Iterator[ExtenderServer]:
    with ExtenderServer().running() as running:
        yield running


class Resolver:
    """A DNS resolver controlled by an attacker: each query returns the next address."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = list(addresses)
        self.queries = 0

    def __call__(self, _host: str, port: int, **_kwargs: Any) -> list[Any]:
        address = self.addresses[min(self.queries, len(self.addresses) - 1)]
        self.queries += 1
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]


def call(port: str, transport: HttpTransport) -> bytes:
    return transport.call(ExtenderCall(1, "filter", f"http://extender.example:{port}/scheduler/filter", b"{}", 2.0))


def test_a_host_that_resolves_to_an_internal_address_is_not_called(server: ExtenderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answers["filter"] = lambda _: {}
    port = server.host.rpartition(":")[2]
    monkeypatch.setattr(socket, "getaddrinfo", Resolver("127.0.0.1"))

    with pytest.raises(ExtenderError) as refused:
        call(port, HttpTransport([f"extender.example:{port}"]))

    assert "loopback address" in str(refused.value)
    assert NETWORKS_SETTING in str(refused.value)
    assert "127.0.0.1" not in str(refused.value), "internal addresses are not revealed"
    assert server.requests == []


def test_a_host_name_is_resolved_once_and_the_checked_address_is_used(server: ExtenderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answers["filter"] = lambda _: {}
    port = server.host.rpartition(":")[2]
    resolver = Resolver("8.8.8.8", "127.0.0.1")
    monkeypatch.setattr(socket, "getaddrinfo", resolver)
    connected: list[Any] = []

    def connect(_self: socket.socket, address: Any) -> None:
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket.socket, "connect", connect)

    with pytest.raises(ExtenderError):
        call(port, HttpTransport([f"extender.example:{port}"]))

    assert connected == [("8.8.8.8", int(port))]
    assert resolver.queries == 1


def test_an_allowed_network_is_called(server: ExtenderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answers["filter"] = lambda _: {}
    port = server.host.rpartition(":")[2]
    monkeypatch.setattr(socket, "getaddrinfo", Resolver("127.0.0.1"))

    assert call(port, HttpTransport([f"extender.example:{port}"], networks=["127.0.0.0/8"])) == b"{}"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(server: ExtenderServer, status: int) -> None:
    server.answers["filter"] = server.answers["elsewhere"] = lambda _: {}
    server.statuses["filter"] = status

    with pytest.raises(ExtenderError, match=f"code {status}"):
        HttpTransport([server.host]).call(ExtenderCall(1, "filter", f"{server.url}/filter", b"{}", 2.0))

    assert [verb for verb, _ in server.requests] == ["filter"]


@pytest.mark.parametrize(
    "url",
    [
        "http://listed.example@127.0.0.1:80/",
        "http://listed.example:80@127.0.0.1/",
        "http://listed.example.evil:80/",
        "file:///etc/passwd",
        "gopher://listed.example:80/",
        "http://[::ffff:127.0.0.1]:80/",
        "http://2130706433/",
        "http://listed.example:80\r\nHost: x/",
    ],
)
def test_a_url_that_only_resembles_a_listed_host_is_not_called(url: str) -> None:
    with pytest.raises(ExtenderError):
        HttpTransport(["listed.example:80"]).call(ExtenderCall(1, "filter", url, b"{}", 0.2))
