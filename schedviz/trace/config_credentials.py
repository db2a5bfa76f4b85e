"""Credentials in a KubeSchedulerConfiguration: an extender's private key, and a user in its URL. schedviz neither uses nor stores them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

#: In place of a private key, so that it still counts as given: "OMITTED" in base64.
OMITTED_KEY: Final = "T01JVFRFRA=="
#: A URL up to its user and password, also inside a text in JSON.
_USER: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)[^/?#\s\"\\]*@")


def without_credentials(config: Any) -> Any:
    """The configuration, as JSON of any form, with placeholders for its credentials; the same object if it has none."""
    extenders = config.get("extenders") if isinstance(config, dict) else None
    if not isinstance(extenders, list):
        return config
    kept = [_extender_without_credentials(extender) for extender in extenders]
    return config if kept == extenders else {**config, "extenders": kept}


def without_users_in_urls(text: str) -> str:
    """A text, or JSON, with a placeholder for the user in each URL: an extender's errors quote its URL."""
    return _USER.sub(r"\1omitted@", text)


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


def _extender_without_credentials(extender: Any) -> Any:
    if not isinstance(extender, dict):
        return extender
    placeholders: dict[str, Any] = {}
    url, tls = extender.get("urlPrefix"), extender.get("tlsConfig")
    if isinstance(url, str):
        placeholders["urlPrefix"] = without_users_in_urls(url)
    if isinstance(tls, dict) and tls.get("keyData") and isinstance(tls["keyData"], str):
        placeholders["tlsConfig"] = {**tls, "keyData": OMITTED_KEY}
    return {**extender, **placeholders}
