"""Names of members as JSON has them."""

from __future__ import annotations


def camel(name: str) -> str:
    """`tick_millis` as Kubernetes writes it: `tickMillis`."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
