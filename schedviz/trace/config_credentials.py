"""Credentials in a KubeSchedulerConfiguration: an extender's private key, and a user in its URL. schedviz neither uses nor stores them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

#: In place of a private key, so that it still counts as given: "OMITTED" in base64.
OMITTED_KEY: Final = "T01JVFRFRA=="
#: The user and password of a URL, also inside a text in JSON. The scheme is not matched as a whole, which would take quadratic time.
_USER: Final = re.compile(r"(?<=[A-Za-z0-9+.-]://)[^/?#\s\"\\]*@")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
#: The user, and the host with its port, of what follows the scheme of a valid URL.
_AUTHORITY: Final = re.compile(r"(?P<user>[^/?#]*@)?(?:\[[^\[\]]*\]|[\w.-]+)(?::\d*)?(?=[/?#]|$)")


def without_credentials(config: Any) -> Any:
    """The configuration, as JSON of any form, with placeholders for its credentials; the same object if it has none."""
    extenders = config.get("extenders") if isinstance(config, dict) else None
    if not isinstance(extenders, list):
        return config
    kept = [_extender_without_credentials(extender) for extender in extenders]
    return config if kept == extenders else {**config, "extenders": kept}


def without_users_in_urls(text: str) -> str:
    """A text, or JSON, with a placeholder for the user in each URL: an extender's errors quote its URL."""
    return _USER.sub("omitted@", text)


def credentials_in(value: Any, path: str = "") -> Iterator[str]:
    """The paths of credentials in a JSON value that contains configurations, or parts of them."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from credentials_in(item, f"{path}[{index}]")
    elif isinstance(value, dict):
        kept = _extender_without_credentials(value)
        yield from (f"{path}.{name}".removeprefix(".") for name in ("urlPrefix", "tlsConfig") if kept.get(name) != value.get(name))
        for name, item in value.items():
            yield from credentials_in(item, f"{path}.{name}".removeprefix("."))


def _without_user(url: str) -> str:
    """A URL with a placeholder for its user, also if a sign in the password, or a missing scheme, makes the URL invalid."""
    scheme = match[0] if (match := _SCHEME.match(url)) is not None else ""
    authority = _AUTHORITY.match(url, len(scheme))
    end = authority.end("user") if authority is not None else url.rfind("@") + 1
    return f"{scheme}omitted@{url[end:]}" if end > 0 else url


def _extender_without_credentials(extender: Any) -> Any:
    if not isinstance(extender, dict):
        return extender
    placeholders: dict[str, Any] = {}
    url, tls = extender.get("urlPrefix"), extender.get("tlsConfig")
    if isinstance(url, str):
        placeholders["urlPrefix"] = _without_user(url)
    if isinstance(tls, dict) and tls.get("keyData") and isinstance(tls["keyData"], str):
        placeholders["tlsConfig"] = {**tls, "keyData": OMITTED_KEY}
    return {**extender, **placeholders}
