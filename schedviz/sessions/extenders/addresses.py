"""The addresses that the hostname of an extender may resolve to: public ones, and the networks that the operator allows.

The operator lists hostnames, but the owner of a hostname decides what it resolves to, and may change it between two calls. So every call
checks the address that it connects to.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

#: The networks, besides public ones, that hostnames may resolve to.
NETWORKS_SETTING: Final = "SCHEDVIZ_EXTENDER_NETWORKS"
#: Allows every address, for users who call extenders from their own machine.
EVERYWHERE: Final = ("0.0.0.0/0", "::/0")
#: The only unicast addresses of IPv6 that are public (RFC 4291), and exceptions in it: documentation (RFC 9637).
_PUBLIC_IPV6: Final = IPv6Network("2000::/3")
_NOT_PUBLIC_IPV6: Final = (IPv6Network("3fff::/20"),)
#: Not public, whatever this version of Python says: protocol assignments (RFC 6890; some clouds have their metadata service there) and
#: 6to4 relays (RFC 7526).
_NOT_PUBLIC_IPV4: Final = (IPv4Network("192.0.0.0/24"), IPv4Network("192.88.99.0/24"))
#: IPv6 networks whose last four bytes are an IPv4 address: IPv4-compatible (RFC 4291), IPv4-translated (RFC 2765), NAT64 (RFC 6052).
_ENDING_IN_IPV4: Final = (IPv6Network("::/96"), IPv6Network("::ffff:0:0:0/96"), IPv6Network("64:ff9b::/96"))

Address = IPv4Address | IPv6Address


class AddressPolicy:
    """Which addresses may be connected to. Raises `ValueError` for an invalid network."""

    def __init__(self, networks: Iterable[str] = ()) -> None:
        self._networks = [ip_network(network) for network in networks]

    def why_not(self, host: str, address: str) -> str:
        """Why `host`, as the operator listed it, may not be called at the `address` that it resolved to; "" if it may.

        A listed address is always allowed, and so is a loopback address for localhost.
        """
        ip = _embedded(ip_address(address.partition("%")[0]))
        if _is_address(host) or (host == "localhost" and ip.is_loopback):
            return ""
        if _is_public(ip):
            return ""
        if any(ip in network for network in self._networks if network.version == ip.version):
            return ""
        return f"its name resolves to a {_kind(ip)} address, which {NETWORKS_SETTING} does not include"


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _is_public(address: Address) -> bool:
    if not address.is_global or address.is_multicast:
        return False
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_IPV4)
    return address in _PUBLIC_IPV6 and not any(address in network for network in _NOT_PUBLIC_IPV6)


def _embedded(address: Address) -> Address:
    """The IPv4 address to which an IPv6 address is translated; otherwise the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address not in (IPv6Address("::"), IPv6Address("::1")) and any(address in network for network in _ENDING_IN_IPV4):
        return IPv4Address(address.packed[-4:])
    return address


def _kind(address: Address) -> str:
    if address.is_loopback:
        return "loopback"
    if address.is_link_local:
        return "link-local"
    if address.is_multicast:
        return "multicast"
    return "private" if address.is_private or (isinstance(address, IPv6Address) and address.is_site_local) else "special"
