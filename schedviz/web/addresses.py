"""Client addresses as keys of rate limits."""

from __future__ import annotations

import ipaddress


def network_of(address: str) -> str:
    """The address; for IPv6 its /64 network, because one machine can use all addresses of it. Other text stays as it is."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)
