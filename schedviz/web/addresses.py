"""Client addresses as keys of rate limits."""

from __future__ import annotations

import ipaddress
import re
from typing import Final

#: An address with a port, which some proxies write into X-Forwarded-For: a client has thousands of ports.
_WITH_PORT: Final = re.compile(r"(?:\[(?P<v6>[^\[\]]*)\]|(?P<v4>[0-9.]+))(?::[0-9]*)?")


def network_of(address: str) -> str:
    """The address without a port; for IPv6 its /64 network, because one machine can use all of it. Other text is returned unchanged."""
    if with_port := _WITH_PORT.fullmatch(address):
        address = with_port["v6"] or with_port["v4"] or ""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return str(ip.ipv4_mapped)
        return str(ipaddress.ip_network((ip, 64), strict=False))
    return str(ip)
