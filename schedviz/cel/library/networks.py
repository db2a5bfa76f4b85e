"""IP addresses and networks. Upstream: apiserver/pkg/cel/library/ip.go, cidr.go

Deviation: all malformed IPv6 addresses have one message; Go's netip has several.
"""

from __future__ import annotations

import ipaddress
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from schedviz.cel import types
from schedviz.cel.declarations import Overload, add_class
from schedviz.cel.errors import CelError
from schedviz.cel.library import costs
from schedviz.cel.types import BOOL, INT, STRING
from schedviz.cel.values import add_value_class

IP: Final = types.opaque("net.IP")
CIDR: Final = types.opaque("net.CIDR")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_LAST_IPV4: Final = ipaddress.IPv4Address("255.255.255.255")
_LINK_LOCAL_MULTICAST: Final = ipaddress.IPv4Network("224.0.0.0/24")


@dataclass(frozen=True, slots=True)
class Prefix:
    """An address and the number of its bits that are the network's."""

    address: Address
    bits: int

    @property
    def network(self) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
        """The network, without the bits of the host."""
        return ipaddress.ip_network((self.address, self.bits), strict=False)

    def __str__(self) -> str:
        return f"{self.address}/{self.bits}"


def functions() -> Iterator[tuple[str, Overload]]:
    """Every overload with the name of its function."""
    yield "ip", Overload((STRING,), IP, _ip, cost=costs.traversal())
    yield "isIP", Overload((STRING,), BOOL, _succeeds(_ip), cost=costs.traversal())
    yield "ip.isCanonical", Overload((STRING,), BOOL, lambda text: str(_ip(text)) == text, cost=costs.traversal(2))
    yield "string", Overload((IP,), STRING, str)
    yield "family", Overload((IP,), INT, lambda address: address.version, is_member=True)
    for name, test in _TESTS.items():
        yield name, Overload((IP,), BOOL, test, is_member=True)
    yield "cidr", Overload((STRING,), CIDR, _cidr, cost=costs.traversal())
    yield "isCIDR", Overload((STRING,), BOOL, _succeeds(_cidr), cost=costs.traversal())
    yield "string", Overload((CIDR,), STRING, str)
    yield "ip", Overload((CIDR,), IP, lambda prefix: prefix.address, is_member=True)
    yield "prefixLength", Overload((CIDR,), INT, lambda prefix: prefix.bits, is_member=True)
    yield "masked", Overload((CIDR,), CIDR, lambda prefix: Prefix(prefix.network.network_address, prefix.bits), is_member=True)
    yield "containsIP", Overload((CIDR, IP), BOOL, _contains, is_member=True, cost=_comparing)
    yield "containsIP", Overload((CIDR, STRING), BOOL, lambda prefix, text: _contains(prefix, _ip(text)), is_member=True, cost=_comparing)
    yield "containsCIDR", Overload((CIDR, CIDR), BOOL, _contains_network, is_member=True, cost=_comparing_networks)
    yield (
        "containsCIDR",
        Overload(
            (CIDR, STRING), BOOL, lambda prefix, text: _contains_network(prefix, _cidr(text)), is_member=True, cost=_comparing_networks
        ),
    )


def _is_link_local_multicast(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv4Address):
        return address in _LINK_LOCAL_MULTICAST
    return address.packed[0] == 0xFF and address.packed[1] & 0x0F == 0x02


_TESTS: Final[dict[str, Callable[[Any], bool]]] = {
    "isUnspecified": lambda address: address.is_unspecified,
    "isLoopback": lambda address: address.is_loopback,
    "isLinkLocalUnicast": lambda address: address.is_link_local,
    "isLinkLocalMulticast": _is_link_local_multicast,
    "isGlobalUnicast": lambda address: (
        not (address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local or address == _LAST_IPV4)
    ),
}


def _ip(text: str) -> Address:
    """Upstream: parseIPAddr"""
    address, problem = _parsed(text)
    if address is None:
        raise CelError(f'IP Address "{text}" parse error during conversion from string: {problem}')
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id:
            raise CelError(f'IP address "{text}" with zone value is not allowed')
        if address.ipv4_mapped is not None:
            raise CelError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return address


def _cidr(text: str) -> Prefix:
    """Upstream: stringToCIDR, parseCIDR"""
    twice = "network address parse error during conversion from string: " * 2
    where, slash, length = text.rpartition("/")
    if not slash:
        raise CelError(f"{twice}netip.ParsePrefix(\"{text}\"): no '/'")
    address, problem = _parsed(where)
    if address is None:
        raise CelError(f'{twice}netip.ParsePrefix("{text}"): {problem}')
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id:
        raise CelError(f'{twice}netip.ParsePrefix("{text}"): IPv6 zones cannot be present in a prefix')
    if not (length.isascii() and length.isdigit()) or (len(length) > 1 and length[0] == "0"):
        raise CelError(f'{twice}netip.ParsePrefix("{text}"): bad bits after slash: "{length}"')
    if int(length) > address.max_prefixlen:
        raise CelError(f'{twice}netip.ParsePrefix("{text}"): prefix length out of range')
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        once = twice[: len(twice) // 2]
        raise CelError(f'{once}IPv4-mapped IPv6 address "{text}" is not allowed')
    return Prefix(address, int(length))


def _parsed(text: str) -> tuple[Address | None, str]:
    """The address, or why there is none. Upstream: Go's netip.ParseAddr"""
    first = next((character for character in text if character in ".:%"), "")
    if first == ".":
        problem = _ipv4_problem(text)
        return (ipaddress.IPv4Address(text), "") if not problem else (None, f'ParseAddr("{text}"): {problem}')
    if first == ":":
        try:
            return ipaddress.IPv6Address(text), ""
        except ValueError:
            return None, f'ParseAddr("{text}"): unable to parse IP'
    return None, f'ParseAddr("{text}"): {"missing IPv6 address" if first else "unable to parse IP"}'


def _ipv4_problem(text: str) -> str:
    """Why a text is no IPv4 address; "": it is one. Upstream: parseIPv4Fields"""
    value, digits, dots = 0, 0, 0
    for index, character in enumerate(text):
        if "0" <= character <= "9":
            if digits == 1 and value == 0:
                return "IPv4 field has octet with leading zero"
            value, digits = value * 10 + int(character), digits + 1
            if value > 255:
                return "IPv4 field has value >255"
        elif character == ".":
            if index in (0, len(text) - 1) or text[index - 1] == ".":
                return f'IPv4 field must have at least one digit (at "{text[index:]}")'
            if dots == 3:
                return "IPv4 address too long"
            value, digits, dots = 0, 0, dots + 1
        else:
            return f'unexpected character (at "{text[index:]}")'
    return "" if dots == 3 else "IPv4 address too short"


def _succeeds(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def test(text: str) -> bool:
        try:
            parse(text)
        except CelError:
            return False
        return True

    return test


def _contains(prefix: Prefix, address: Address) -> bool:
    return prefix.address.version == address.version and address in prefix.network


def _contains_network(prefix: Prefix, other: Prefix) -> bool:
    return prefix.bits <= other.bits and _contains(prefix, other.address)


def _size(prefix: Prefix) -> int:
    """The bytes of the network's part."""
    return -(-prefix.bits // 8)


def _comparing(arguments: Sequence[Any], _result: Any) -> int:
    prefix, other = arguments
    return costs.of_length(2 * _size(prefix)) + (costs.of_length(len(other)) if isinstance(other, str) else 0)


def _comparing_networks(arguments: Sequence[Any], _result: Any) -> int:
    return _comparing(arguments, _result) + costs.of_length(_size(arguments[0])) + 1


add_class(IP.name, ipaddress._BaseAddress)  # noqa: SLF001  (the only class that both kinds of addresses share)
add_class(CIDR.name, Prefix)
for _class in (ipaddress.IPv4Address, ipaddress.IPv6Address):
    add_value_class(_class, IP.name, operator.eq, is_strict=True)
add_value_class(Prefix, CIDR.name, operator.eq, is_strict=True)
