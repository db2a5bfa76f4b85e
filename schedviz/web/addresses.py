"""Client addresses, and the networks under which rate limits count them."""

from __future__ import annotations

import ipaddress
import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings

if TYPE_CHECKING:
    from django.http import HttpRequest
    from rest_framework.request import Request

#: A home line has a network of this size, of which each machine may use a /64.
_IPV6_PREFIX: Final = 56
#: Nothing longer is an address.
_MAX_LENGTH: Final = 64

#: An address with a port, which some proxies write into X-Forwarded-For: a client has thousands of ports.
_ADDRESS_WITH_PORT: Final = re.compile(r"(?:\[(?P<v6>[^\[\]]*)\]|(?P<v4>[0-9.]+))(?::[0-9]*)?")


def client_address(request: HttpRequest | Request) -> str:
    """The client's address. X-Forwarded-For is trusted as far as SCHEDVIZ_PROXIES allows."""
    forwarded = [part.strip() for part in str(request.META.get("HTTP_X_FORWARDED_FOR") or "").split(",") if part.strip()]
    if settings.PROXIES and forwarded:
        return forwarded[-min(settings.PROXIES, len(forwarded))][:_MAX_LENGTH]
    return str(request.META.get("REMOTE_ADDR") or "")[:_MAX_LENGTH]


def client_network(request: HttpRequest | Request) -> str:
    """The client's address as `network_of` has it."""
    return network_of(client_address(request))


def network_of_scope(scope: dict[str, Any]) -> str:
    """`client_network` of a request or a WebSocket, by its ASGI scope."""
    forwarded = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for").decode("latin-1")
    address = (scope.get("client") or ("",))[0]
    request: Any = SimpleNamespace(META={"HTTP_X_FORWARDED_FOR": forwarded, "REMOTE_ADDR": address})
    return client_network(request)


def network_of(address: str) -> str:
    """The address without a port; for IPv6 its /56 network, because providers give one customer that many addresses. Other text is
    returned unchanged.
    """
    ip = ip_of(address)
    if ip is None:
        return address
    return str(ip) if isinstance(ip, ipaddress.IPv4Address) else str(ipaddress.ip_network((ip, _IPV6_PREFIX), strict=False))


def ip_of(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The IP address in a text, without its port and zone, and as IPv4 if it is mapped into IPv6; None if it is no address."""
    if with_port := _ADDRESS_WITH_PORT.fullmatch(address):
        address = with_port["v6"] or with_port["v4"] or ""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return (ip.ipv4_mapped or ip) if isinstance(ip, ipaddress.IPv6Address) else ip
