"""Plugins that users install: entry points of the group `schedviz.plugins`, loaded only if a configuration enables one.

An entry point is a class, or any function that makes a plugin from its arguments and a Handle. docs/plugins.md describes how to write one.
A program can also offer a plugin to the engines of its own process, without a package (`offer`).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, Final

from schedviz.engine.config import ConfigurationError, KubeSchedulerConfiguration, Problem
from schedviz.engine.config.types import EXTENSION_POINTS
from schedviz.engine.framework.interface import Handle, Plugin, PluginFactory
from schedviz.engine.framework.runtime.plugin_lists import Registry
from schedviz.engine.framework.runtime.user_plugin_guard import GuardedPlugin

GROUP: Final = "schedviz.plugins"

#: Name -> what makes the plugin, of plugins that this process was offered.
_offered: dict[str, Callable[[Any, Handle], Any]] = {}


def offer(name: str, make: Callable[[Any, Handle], Any]) -> None:
    """Offer a plugin to engines that this process creates from now on, as an entry point would. It replaces an offer of this name."""
    _offered[name] = make


def registry_for(configuration: KubeSchedulerConfiguration, in_tree: Registry) -> Registry:
    """The release's in-tree plugins, and the installed plugins that the configuration enables.

    Raises `ConfigurationError` if two packages offer one name. Upstream: framework/runtime/registry.go Registry.Merge
    """
    registry = dict(in_tree)
    missing = set(_enabled(configuration)) - registry.keys()
    if not missing:
        return registry
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        if point.name not in missing:
            continue
        if point.name in registry:
            raise ConfigurationError([Problem("profiles", f"a plugin named {point.name} already exists")])
        registry[point.name] = _factory(point.name, point.load)
    for name in sorted(missing & _offered.keys()):
        if name in registry:
            raise ConfigurationError([Problem("profiles", f"a plugin named {name} already exists")])
        registry[name] = _factory(name, lambda make=_offered[name]: make)  # type: ignore[misc]  # a default binds it now
    return registry


def installed_plugins(configuration: KubeSchedulerConfiguration, in_tree: Registry) -> list[str]:
    """The names of the plugins in a configuration that are not in the release's tree."""
    return sorted(set(_enabled(configuration)) - in_tree.keys())


def installed_here() -> frozenset[str]:
    """The names that installed packages offer. Enabling one runs its code; the engine rejects any other name."""
    return frozenset(point.name for point in entry_points(group=GROUP))


def _enabled(configuration: KubeSchedulerConfiguration) -> list[str]:
    points = ("multi_point", *EXTENSION_POINTS)
    return [entry.name for profile in configuration.profiles for point in points for entry in getattr(profile.plugins, point).enabled]


def _factory(name: str, load: Callable[[], Callable[[Any, Handle], Any]]) -> PluginFactory:
    def make(args: Any, handle: Handle) -> Plugin:
        try:
            return GuardedPlugin(name, load()(args, handle))
        except Exception as error:
            text = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            raise ValueError(" ".join(text.split())[:500]) from error

    return make
