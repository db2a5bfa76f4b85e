"""The public address of the server, and whether connections to it are encrypted."""

from __future__ import annotations

import ipaddress
import os
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from schedviz.up.errors import CannotStart
from schedviz.up.options import UpOptions

_ALL_INTERFACES = {"0.0.0.0", "::", ""}  # noqa: S104 (compared, not bound)
_LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"]
#: Addresses reserved for documentation. No packet is sent: the kernel only selects the local address from which it would be sent.
_OUTSIDE_ADDRESSES = {socket.AF_INET: ("192.0.2.1", 9), socket.AF_INET6: ("2001:db8::1", 9)}


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
    #: The listening address, as seen from this machine.
    address: tuple[str, int]
    tls: Tls | None

    @property
    def is_open_to_others(self) -> bool:
        """Whether other machines can connect."""
        return not _is_loopback(self.address[0])

    @property
    def environment(self) -> dict[str, str]:
        """Allowed hosts and origins: exactly those of `url` and, if only this machine can connect, all names of this machine."""
        hosts = [_host_of(self.url)] if self.is_open_to_others else sorted({*_LOOPBACK_NAMES, _host_of(self.url)})
        environment = {"SCHEDVIZ_ALLOWED_HOSTS": ",".join(hosts)}
        if self.is_open_to_others or self.tls:
            environment |= {"SCHEDVIZ_ORIGINS": self.url, "SCHEDVIZ_URL": self.url}
        return environment

    @property
    def warning(self) -> str:
        """A warning about an unsafe configuration; "" if there is none."""
        if self.is_open_to_others and self.tls is None:
            return (
                "Without TLS, anybody on the network can read the traffic and take over a login with its cookie. "
                "Set --tls-cert and --tls-key unless you trust everybody on this network."
            )
        return ""


def server_address(options: UpOptions, listener: socket.socket) -> ServerAddress:
    """The addresses of a listener. SCHEDVIZ_URL takes precedence. Raises `CannotStart` for an unusable certificate."""
    tls = _tls(options.tls_certificate, options.tls_key)
    host, port = listener.getsockname()[:2]
    bind_address = _own_address(listener.family) if host in _ALL_INTERFACES else host
    if url := os.environ.get("SCHEDVIZ_URL"):
        return ServerAddress(_checked_url(url), (bind_address, port), tls)
    # Certificates are issued for hostnames.
    shown_host = bind_address if options.host in _ALL_INTERFACES or _is_address(options.host) else options.host
    return ServerAddress(f"{'https' if tls else 'http'}://{_bracketed(shown_host)}:{port}", (bind_address, port), tls)


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


def _own_address(family: socket.AddressFamily | int) -> str:
    """The address of this machine on its default route; the loopback address if there is none."""
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_OUTSIDE_ADDRESSES[socket.AddressFamily(family)])
        except OSError:
            return "::1" if family == socket.AF_INET6 else "127.0.0.1"
        return str(probe.getsockname()[0])


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
