"""How people reach this server: the one address that is told to them, and whether the way there is encrypted."""

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

_EVERY = {"0.0.0.0", "::", ""}  # noqa: S104 (compared, not bound)
_LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"]
#: Nothing is sent there: the kernel is asked which of our addresses it would be sent from.
_FAR_AWAY = {socket.AF_INET: ("192.0.2.1", 9), socket.AF_INET6: ("2001:db8::1", 9)}


@dataclass(frozen=True)
class Tls:
    """A certificate, with those between it and one that browsers know, and its key; PEM files."""

    certificate: Path
    key: Path


@dataclass(frozen=True)
class Reach:
    """Where the server is."""

    #: What people open, without a slash at the end.
    url: str
    #: Where it listens, as it is reached from this machine.
    address: tuple[str, int]
    tls: Tls | None

    @property
    def is_open_to_others(self) -> bool:
        """Other machines can connect."""
        return not _is_loopback(self.address[0])

    @property
    def environment(self) -> dict[str, str]:
        """Names and origins, exactly those of `url`; and on this machine alone, all that mean this machine."""
        hosts = [_host_of(self.url)] if self.is_open_to_others else sorted({*_LOOPBACK_NAMES, _host_of(self.url)})
        found = {"SCHEDVIZ_ALLOWED_HOSTS": ",".join(hosts)}
        if self.is_open_to_others or self.tls:
            found |= {"SCHEDVIZ_ORIGINS": self.url, "SCHEDVIZ_URL": self.url}
        return found

    @property
    def warning(self) -> str:
        """What is dangerous about it; "" where nothing is."""
        if self.is_open_to_others and self.tls is None:
            return (
                "Without TLS everybody on the way can read along, and take over a login by its cookie. "
                "Give --tls-cert and --tls-key, unless you know everybody on this network."
            )
        return ""


def reach(options: UpOptions, listener: socket.socket) -> Reach:
    """How the listener is reached; what SCHEDVIZ_URL says is believed. Raises `CannotStart` for a certificate that cannot be used."""
    tls = _tls(options.tls_certificate, options.tls_key)
    host, port = listener.getsockname()[:2]
    here = _own_address(listener.family) if host in _EVERY else host
    if given := os.environ.get("SCHEDVIZ_URL"):
        return Reach(_given(given), (here, port), tls)
    # A name is what a certificate is for.
    shown = here if options.host in _EVERY or _is_address(options.host) else options.host
    return Reach(f"{'https' if tls else 'http'}://{_bracketed(shown)}:{port}", (here, port), tls)


def _tls(certificate: Path | None, key: Path | None) -> Tls | None:
    if certificate is None or key is None:
        return None
    for option, path in (("--tls-cert", certificate), ("--tls-key", key)):
        if not os.access(path, os.R_OK):
            raise CannotStart(f"{option} {path}: there is no such file, or you may not read it.")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=_no_password)
    except (ssl.SSLError, ValueError) as error:
        why = getattr(error, "reason", None) or error
        raise CannotStart(
            f"--tls-cert {certificate} and --tls-key {key} do not belong together, or are not PEM files without a password ({why})."
        ) from error
    return Tls(certificate.absolute(), key.absolute())


def _no_password() -> str:
    """In place of a question at the terminal."""
    raise ValueError("the key has a password")


def _own_address(family: socket.AddressFamily | int) -> str:
    """The address of this machine in the network that leads out; the loopback's where there is none."""
    with socket.socket(family, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect(_FAR_AWAY[socket.AddressFamily(family)])
        except OSError:
            return "::1" if family == socket.AF_INET6 else "127.0.0.1"
        return str(asked.getsockname()[0])


def _given(url: str) -> str:
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
