"""Where the name of an extender may lead: to public addresses, and to those networks that the operator allows.

The operator lists names; who owns such a name decides what it resolves to, and may change it between two calls. So each call looks at the
very address that it connects to.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

#: The networks, besides public ones, that names may lead to.
NETWORKS_SETTING: Final = "SCHEDVIZ_EXTENDER_NETWORKS"
#: For whoever calls extenders from a machine of their own.
EVERYWHERE: Final = ("0.0.0.0/0", "::/0")
#: Addresses that a gateway turns into IPv4 (RFC 6052).
_NAT64: Final = IPv6Network("64:ff9b::/96")

Address = IPv4Address | IPv6Address


class AddressPolicy:
    """Which addresses may be connected to. Raises `ValueError` for what is no network."""

    def __init__(self, networks: Iterable[str] = ()) -> None:
        self._networks = [ip_network(one) for one in networks]

    def why_not(self, host: str, address: str) -> str:
        """Why `host`, as it is listed, may not be called at the `address` that it leads to; "": it may.

        An address that is listed itself, and localhost, are what they say.
        """
        found = _embedded(ip_address(address.partition("%")[0]))
        if _is_address(host) or (host == "localhost" and found.is_loopback):
            return ""
        if found.is_global and not found.is_multicast:
            return ""
        if any(found in network for network in self._networks if network.version == found.version):
            return ""
        return f"its name leads to a {_kind(found)} address, which {NETWORKS_SETTING} does not hold"


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _embedded(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for; else itself."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64:
        return IPv4Address(address.packed[-4:])
    return address


def _kind(address: Address) -> str:
    if address.is_loopback:
        return "loopback"
    if address.is_link_local:
        return "link-local"
    if address.is_multicast:
        return "multicast"
    return "private" if address.is_private else "special"
