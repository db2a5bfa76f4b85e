"""URLs. Upstream: apiserver/pkg/cel/library/urls.go; Go's net/url ParseRequestURI and Parse"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote, unquote, unquote_plus

import msgspec

from schedviz.cel import types
from schedviz.cel.declarations import Overload, add_class
from schedviz.cel.errors import CelError
from schedviz.cel.library import costs
from schedviz.cel.types import BOOL, STRING
from schedviz.cel.values import add_value_class

URL: Final = types.opaque("kubernetes.URL")

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}")
_PORT: Final = re.compile(r"(?::[0-9]*)?")
#: The characters of a path that need no escape, and those that a path may have as they are written.
_PLAIN: Final = "$&+,/:;=@-_.~"
_WRITTEN: Final = re.compile(r"(?:[A-Za-z0-9\-_.~!$&'()*+,;=:@\[\]/]|%[0-9A-Fa-f]{2})*")
#: What a host must not have.
_NO_HOST: Final = re.compile(r"[^A-Za-z0-9\-_.~!$&'()*+,;=:\[\]<>\"%\x80-\U0010ffff]")


class Url(msgspec.Struct, frozen=True):
    """The parts that functions give."""

    scheme: str
    host: str
    path: str
    query: str
    text: str

    @property
    def hostname(self) -> str:
        """The host without its port and without brackets."""
        if self.host.startswith("["):
            return self.host[1:].partition("]")[0]
        return self.host.partition(":")[0]

    @property
    def port(self) -> str:
        """The port; "": none."""
        rest = self.host.partition("]")[2] if self.host.startswith("[") else self.host
        return rest.rpartition(":")[2] if ":" in rest else ""

    @property
    def escaped_path(self) -> str:
        """The path as it was written, if that is valid; otherwise with everything escaped that has to be."""
        if _WRITTEN.fullmatch(self.path):
            return self.path
        return "*" if self.path == "*" else quote(unquote(self.path), safe=_PLAIN)

    @property
    def values(self) -> dict[str, tuple[str, ...]]:
        """The values of the query by name."""
        result: dict[str, tuple[str, ...]] = {}
        for pair in filter(None, self.query.split("&")):
            name, _, value = pair.partition("=")
            if ";" not in pair and not _BAD_ESCAPE.search(pair):
                key = unquote_plus(name)
                result[key] = (*result.get(key, ()), unquote_plus(value))
        return result


def functions() -> Iterator[tuple[str, Overload]]:
    """Every overload with the name of its function."""
    yield "url", Overload((STRING,), URL, _url, cost=costs.traversal())
    yield "isURL", Overload((STRING,), BOOL, lambda text: not _problem(text), cost=costs.traversal())
    yield "getScheme", Overload((URL,), STRING, lambda url: url.scheme, is_member=True)
    yield "getHost", Overload((URL,), STRING, lambda url: url.host, is_member=True)
    yield "getHostname", Overload((URL,), STRING, lambda url: url.hostname, is_member=True)
    yield "getPort", Overload((URL,), STRING, lambda url: url.port, is_member=True)
    yield "getEscapedPath", Overload((URL,), STRING, lambda url: url.escaped_path, is_member=True)
    yield "getQuery", Overload((URL,), types.map_of(STRING, types.list_of(STRING)), lambda url: url.values, is_member=True)


def _url(text: str) -> Url:
    problem = _problem(text)
    if problem:
        raise CelError(f'URL parse error during conversion from string: parse "{text}": {problem}')
    scheme, rest = _split_scheme(text.partition("#")[0])
    rest, _, query = rest.partition("?")
    host, path = _split_host(rest)
    return Url(scheme.lower(), host.rpartition("@")[2], path, query, text)


def _split_scheme(text: str) -> tuple[str, str]:
    scheme, colon, rest = text.partition(":")
    return (scheme, rest) if colon and _SCHEME.fullmatch(scheme) else ("", text)


def _split_host(text: str) -> tuple[str, str]:
    """The authority and the path."""
    if not text.startswith("//"):
        return "", text
    authority, slash, path = text[2:].partition("/")
    return authority, slash + path


def _problem(text: str) -> str:
    """Why a text is no absolute URL and no absolute path; "": it is. Upstream: Go's url.ParseRequestURI"""
    if any(character < " " or character == "\x7f" for character in text):
        return "net/url: invalid control character in URL"
    if not text:
        return "empty url"
    if text == "*":
        return ""
    if text.startswith(":"):
        return "missing protocol scheme"
    scheme, rest = _split_scheme(text)
    if not scheme and ":" in text.partition("/")[0]:
        return "first path segment in URL cannot contain colon"
    if not rest.startswith("/"):
        return "" if scheme else "invalid URI for request"
    authority, path = _split_host(rest.partition("?")[0]) if scheme or not rest.startswith("///") else ("", rest)
    return _host_problem(authority.rpartition("@")[2]) or _escape_problem(path)


def _host_problem(host: str) -> str:
    """Upstream: Go's parseHost"""
    if host.startswith("["):
        inside, bracket, port = host.partition("]")
        if not bracket:
            return "missing ']' in host"
        if not _PORT.fullmatch(port):
            return f'invalid port "{port}" after host'
        host = inside
    elif ":" in host:
        port = host[host.rindex(":") :]
        if not _PORT.fullmatch(port):
            return f'invalid port "{port}" after host'
    bad = _NO_HOST.search(host)
    return f'invalid character "{bad[0]}" in host name' if bad else _escape_problem(host)


def _escape_problem(text: str) -> str:
    bad = _BAD_ESCAPE.search(text)
    return f'invalid URL escape "{bad[0]}"' if bad else ""


add_class(URL.name, Url)
add_value_class(Url, URL.name, operator.eq, is_strict=True)
