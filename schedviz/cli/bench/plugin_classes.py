"""The classes of the default plugins, and temporary replacements of their methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from schedviz.engine import Simulation, SimulationSettings
from schedviz.trace.releases import DEFAULT_RELEASE

#: A class, a method, and its replacement.
Patch = tuple[type, str, Any]


def plugin_classes(release: str = DEFAULT_RELEASE) -> dict[str, type]:
    """By plugin name; for plugins that share a class, the first."""
    classes: dict[type, str] = {}
    for framework in Simulation(SimulationSettings(release=release)).scheduler.state.profiles.values():
        for name, plugin in framework.plugins.by_name.items():
            classes.setdefault(type(plugin), name)
    return {name: kind for kind, name in classes.items()}


@contextmanager
def patched(patches: Sequence[Patch]) -> Iterator[None]:
    """Replace methods inside the context. Engines created inside keep the replacements."""
    before = [(kind, name, kind.__dict__.get(name)) for kind, name, _ in patches]
    try:
        for kind, name, function in patches:
            setattr(kind, name, function)
        yield
    finally:
        for kind, name, own in before:
            if own is None:
                delattr(kind, name)
            else:
                setattr(kind, name, own)
