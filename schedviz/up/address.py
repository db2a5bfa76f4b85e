"""The public address of the server, and whether connections to it are encrypted."""

from __future__ import annotations

import fcntl
import ipaddress
import os
import socket
import ssl
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

from schedviz.up.errors import CannotStart
from schedviz.up.options import UpOptions

_ALL_INTERFACES = {"0.0.0.0", "::", ""}  # noqa: S104 (compared, not bound)
_LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"]
#: Addresses reserved for documentation. No packet is sent: the kernel only selects the local address from which it would be sent.
_OUTSIDE_ADDRESSES = {socket.AF_INET: ("192.0.2.1", 9), socket.AF_INET6: ("2001:db8::1", 9)}
#: Linux' ioctl requests for the address and the flags of an interface, and some of those flags.
_SIOCGIFADDR, _SIOCGIFFLAGS = 0x8915, 0x8913
_IFF_UP, _IFF_LOOPBACK, _IFF_RUNNING = 0x1, 0x8, 0x40
_WITHOUT_TLS = (
    "Without TLS, anybody on the network can read the traffic and take over a login with its cookie. "
    "Set --tls-cert and --tls-key unless you trust everybody on this network."
)
_WITHOUT_URL = (
    "Other machines can connect, but no address of this machine in a network was found, so only this machine can open the page. "
    "Connect it to the network and start again, or set SCHEDVIZ_URL to the address that others open."
)


@dataclass(frozen=True)
class Tls:
    """A certificate with its chain, and its key; PEM files."""

    certificate: Path
    key: Path


@dataclass(frozen=True)
class ServerAddress:
    """The addresses of the server."""

    #: The address for browsers, without a trailing slash.
    url: str
    #: Where this machine connects to the server: the listening address or, for all interfaces, that of the default route.
    connect_to: tuple[str, int]
    tls: Tls | None
    #: Whether other machines can connect.
    is_open_to_others: bool

    @property
    def is_url_for_others(self) -> bool:
        """Whether other machines can use `url`. Not if they can connect, but no address of this machine in a network was found."""
        return self.is_open_to_others and not _is_loopback(urlsplit(self.url).hostname or "")

    @property
    def environment(self) -> dict[str, str]:
        """Allowed hosts: that of `url` and, unless others use it, the loopback names. With TLS, or if others use `url`: its origin."""
        host = _host_of(self.url)
        hosts = [host] if self.is_url_for_others else sorted({*_LOOPBACK_NAMES, host})
        environment = {"SCHEDVIZ_ALLOWED_HOSTS": ",".join(hosts)}
        if self.is_url_for_others or self.tls:
            environment |= {"SCHEDVIZ_ORIGINS": self.url, "SCHEDVIZ_URL": self.url}
        return environment

    @property
    def warning(self) -> str:
        """Warnings about an unsafe or an incomplete configuration; "" if there are none."""
        warnings = []
        if self.is_open_to_others and self.tls is None:
            warnings.append(_WITHOUT_TLS)
        if self.is_open_to_others and not self.is_url_for_others:
            warnings.append(_WITHOUT_URL)
        return " ".join(warnings)


def server_address(options: UpOptions, listener: socket.socket) -> ServerAddress:
    """The addresses of a listener. SCHEDVIZ_URL takes precedence. Raises `CannotStart` for an unusable certificate."""
    tls = _tls(options.tls_certificate, options.tls_key)
    host, port = listener.getsockname()[:2]
    is_open = host in _ALL_INTERFACES or not _is_loopback(host)
    address = _own_address(listener) if host in _ALL_INTERFACES else host
    if url := os.environ.get("SCHEDVIZ_URL"):
        return ServerAddress(_checked_url(url), (address, port), tls, is_open)
    # Certificates are issued for hostnames.
    shown_host = address if options.host in _ALL_INTERFACES or _is_address(options.host) else options.host
    return ServerAddress(f"{'https' if tls else 'http'}://{_bracketed(shown_host)}:{port}", (address, port), tls, is_open)


def _tls(certificate: Path | None, key: Path | None) -> Tls | None:
    if certificate is None or key is None:
        return None
    for option, path in (("--tls-cert", certificate), ("--tls-key", key)):
        if not os.access(path, os.R_OK):
            raise CannotStart(f"{option} {path}: the file does not exist or is not readable.")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=_no_password)
    except (ssl.SSLError, ValueError) as error:
        why = getattr(error, "reason", None) or error
        raise CannotStart(
            f"--tls-cert {certificate} and --tls-key {key} do not belong together, or are not PEM files without a password ({why})."
        ) from error
    return Tls(certificate.absolute(), key.absolute())


def _no_password() -> str:
    """Raises instead of prompting on the terminal."""
    raise ValueError("the key has a password")


def _own_address(listener: socket.socket) -> str:
    """An address at which others reach a listener on all interfaces; the loopback address if none is found.

    That of the default route or, in a network without a gateway, of an interface or of this machine's name.
    """
    families = [socket.AddressFamily(listener.family)]
    if families == [socket.AF_INET6] and not listener.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY):
        families.append(socket.AF_INET)
    candidates = chain(
        map(_default_route_address, families),
        _interface_addresses() if socket.AF_INET in families else (),
        chain.from_iterable(map(_addresses_of_name, families)),
    )
    loopback = "::1" if listener.family == socket.AF_INET6 else "127.0.0.1"
    return next((address for address in candidates if address and not _is_loopback(address)), loopback)


def _default_route_address(family: socket.AddressFamily) -> str:
    """The address of this machine on its default route; "" if there is none."""
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_OUTSIDE_ADDRESSES[family])
        except OSError:
            return ""
        return str(probe.getsockname()[0])


def _interface_addresses() -> Iterator[str]:
    """The IPv4 addresses of the connected interfaces (Linux)."""
    if sys.platform != "linux":
        return
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode())
            try:
                (flags,) = struct.unpack("H", fcntl.ioctl(probe, _SIOCGIFFLAGS, request)[16:18])
                address = socket.inet_ntoa(fcntl.ioctl(probe, _SIOCGIFADDR, request)[20:24])
            except OSError:
                continue
            if flags & _IFF_UP and flags & _IFF_RUNNING and not flags & _IFF_LOOPBACK:
                yield address


def _addresses_of_name(family: socket.AddressFamily) -> list[str]:
    """The addresses to which this machine's name resolves, without those that are valid on one link only."""
    try:
        results = socket.getaddrinfo(socket.gethostname(), None, family, socket.SOCK_STREAM)
    except OSError:
        return []
    return [address for *_, (address, *_) in results if isinstance(address, str) and not ipaddress.ip_address(address).is_link_local]


def _checked_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path not in {"", "/"}:
        raise CannotStart(f"SCHEDVIZ_URL={url!r} is not like https://schedviz.example.org: a scheme, a name and perhaps a port.")
    return url.rstrip("/")


def _host_of(url: str) -> str:
    return _bracketed(urlsplit(url).hostname or "")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    return _is_address(host) and ipaddress.ip_address(host).is_loopback
