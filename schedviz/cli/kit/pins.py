"""The installed versions of a package's dependencies, pinned."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution, version

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def pins_of(requirements: Iterable[str]) -> list[str]:
    """All direct and indirect dependencies on this machine, as sorted `name==version`. Raises `PackageNotFoundError` if one is missing."""
    pins: dict[str, str] = {}
    waiting = _needed(requirements, frozenset())
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        pins[name] = version(name)
        waiting += _needed(distribution(name).requires or [], extras)
    return [f"{name}=={pins[name]}" for name in sorted(pins)]


def pin(name: str) -> str:
    """The same for one package; unpinned if it is not installed."""
    try:
        return f"{name}=={version(name)}"
    except PackageNotFoundError:
        return name


def _needed(requirements: Iterable[str], extras: frozenset[str]) -> list[tuple[str, frozenset[str]]]:
    """Names and extras of the requirements whose markers match here, for these extras."""
    parsed = [Requirement(line) for line in requirements]
    applicable = [
        requirement
        for requirement in parsed
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    ]
    return [(canonicalize_name(requirement.name), frozenset(requirement.extras)) for requirement in applicable]
