"""The plugins of each extension point, in order and with weights.

Upstream: framework/runtime/framework.go NewFramework, expandMultiPointPlugins, getScoreWeights
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from schedviz.engine.config.errors import ConfigurationError, Problem
from schedviz.engine.config.types import EXTENSION_POINTS, PLACEMENT_POINTS, KubeSchedulerProfile, Plugins, PluginSet
from schedviz.engine.config.types import Plugin as PluginEntry
from schedviz.engine.framework import interface
from schedviz.engine.framework.interface import MAX_NODE_SCORE, MAX_TOTAL_SCORE, Handle, Plugin, PluginFactory

#: Plugin name -> its factory. Upstream: framework/runtime/registry.go Registry
Registry = Mapping[str, PluginFactory]

#: Extension point -> upstream's name of its interface (which messages show), and the protocols that a plugin must implement.
_INTERFACES: Final[dict[str, tuple[str, tuple[Any, ...]]]] = {
    "pre_filter": ("PreFilterPlugin", (interface.PreFilterPlugin,)),
    "filter": ("FilterPlugin", (interface.FilterPlugin, interface.NodeFilterPlugin)),
    "post_filter": ("PostFilterPlugin", (interface.PostFilterPlugin,)),
    "reserve": ("ReservePlugin", (interface.ReservePlugin,)),
    "pre_score": ("PreScorePlugin", (interface.PreScorePlugin,)),
    "score": ("ScorePlugin", (interface.ScorePlugin, interface.NodeScorePlugin)),
    "pre_bind": ("PreBindPlugin", (interface.PreBindPlugin,)),
    "bind": ("BindPlugin", (interface.BindPlugin,)),
    "post_bind": ("PostBindPlugin", (interface.PostBindPlugin,)),
    "permit": ("PermitPlugin", (interface.PermitPlugin,)),
    "pre_enqueue": ("PreEnqueuePlugin", (interface.PreEnqueuePlugin,)),
    "queue_sort": ("QueueSortPlugin", (interface.QueueSortPlugin,)),
    "placement_generate": ("PlacementGeneratePlugin", (interface.PlacementGeneratePlugin,)),
    "placement_score": ("PlacementScorePlugin", (interface.PlacementScorePlugin,)),
}


def _methods_of(protocol: type) -> tuple[str, ...]:
    return tuple(name for base in protocol.__mro__ for name, value in vars(base).items() if callable(value) and not name.startswith("_"))


#: Extension point -> for each of its protocols, the methods. `isinstance` with a protocol would collect them again at each of the hundreds
#: of checks that an engine needs.
_METHODS: Final = {point: tuple(map(_methods_of, protocols)) for point, (_, protocols) in _INTERFACES.items()}

#: What is wrong with weights whose sum is too large.
_OVERFLOW: Final = {
    "score": "total score of Score plugins could overflow",
    "placement_score": "placement score plugins: total score of Score plugins could overflow",
}


class PluginListsError(ConfigurationError):
    """A profile with an invalid set of plugins. The text is upstream's. Upstream: scheduler.go New, profile/profile.go newProfile"""

    def __init__(self, profile: str, message: str) -> None:
        sentence = f"initializing profiles: creating profile for scheduler name {profile}: {message}"
        super().__init__([Problem("profiles", message, sentence)])


class _InvalidProfileError(ValueError):
    """A problem of a profile; becomes a `PluginListsError`."""


class PluginLists:
    """The plugins of a profile: all by name, and those of each extension point in order."""

    def __init__(self, registry: Registry, profile: KubeSchedulerProfile, handle: Handle) -> None:
        """Create the plugins that the profile needs. Raises `PluginListsError`."""
        self._profile = profile
        try:
            #: In the registry's order.
            self.by_name: dict[str, Plugin] = _make_plugins(registry, profile, handle)
            own = {point: self._own(point) for point in self._points}
            self._names = {point: self._expand(point, own[point]) for point in self._points}
            self._check()
            #: Score plugin -> weight.
            self.weights: dict[str, int] = self._weigh("score")
            #: v1.36: the same for PlacementScore.
            self.placement_weights: dict[str, int] = self._weigh("placement_score") if "placement_score" in self._points else {}
        except _InvalidProfileError as error:
            raise PluginListsError(profile.scheduler_name, str(error)) from error.__cause__

    @property
    def _points(self) -> tuple[str, ...]:
        """The release's extension points."""
        return (*EXTENSION_POINTS, *(point for point in PLACEMENT_POINTS if hasattr(self._profile.plugins, point)))

    def at(self, point: str) -> list[Any]:
        """The plugins of an extension point (a member of `Plugins`), in the order in which they run."""
        return [self.by_name[name] for name in self._names.get(point, ())]

    def names(self, point: str) -> list[str]:
        return self._names[point]

    def args(self, name: str) -> Any:
        """The arguments with which a plugin was created."""
        return self._profile.args(name)

    def listed(self) -> Plugins:
        """The plugins of each extension point, in the form of a configuration. Upstream: framework/runtime/framework.go ListPlugins"""
        return Plugins(**{point: PluginSet(enabled=self._entries(point)) for point in EXTENSION_POINTS})

    def _entries(self, point: str) -> tuple[PluginEntry, ...]:
        return tuple(PluginEntry(name, self.weights[name] if point == "score" else 0) for name in self._names[point])

    def _expand(self, point: str, own: list[str]) -> list[str]:
        """The plugins of one extension point, with MultiPoint expanded.

        The order: MultiPoint's plugins that this point configures again, in this point's order; MultiPoint's other plugins; plugins that
        only this point enables. Upstream: updatePluginList, expandMultiPointPlugins
        """
        plugin_set: PluginSet = getattr(self._profile.plugins, point)
        disabled = {plugin.name for plugin in plugin_set.disabled}
        if "*" in disabled:
            return own
        interface_name, _ = _INTERFACES[point]
        overrides: set[str] = set()
        expanded: dict[str, None] = {}
        for entry in self._profile.plugins.multi_point.enabled:
            if entry.name not in self.by_name:
                raise _InvalidProfileError(f'{interface_name} "{entry.name}" does not exist')
            if not self._implements(entry.name, point) or entry.name in disabled:
                continue
            if entry.name in own:
                overrides.add(entry.name)
            elif entry.name in expanded:
                raise _InvalidProfileError(f'plugin "{entry.name}" already registered as "{interface_name}"')
            else:
                expanded[entry.name] = None
        return [*(name for name in own if name in overrides), *expanded, *(name for name in own if name not in overrides)]

    def _own(self, point: str) -> list[str]:
        """Plugins that this extension point enables itself. Upstream: updatePluginList"""
        interface_name, _ = _INTERFACES[point]
        names: list[str] = []
        for entry in getattr(self._profile.plugins, point).enabled:
            if entry.name not in self.by_name:
                raise _InvalidProfileError(f'{interface_name} "{entry.name}" does not exist')
            if not self._implements(entry.name, point):
                raise _InvalidProfileError(f'plugin "{entry.name}" does not extend {interface_name} plugin')
            if entry.name in names:
                raise _InvalidProfileError(f'plugin "{entry.name}" already registered as "{interface_name}"')
            names.append(entry.name)
        return names

    def _implements(self, name: str, point: str) -> bool:
        plugin = self.by_name.get(name)
        return any(all(callable(getattr(plugin, method, None)) for method in methods) for methods in _METHODS[point])

    def _weigh(self, point: str) -> dict[str, int]:
        """The extension point's weight takes precedence over MultiPoint's; the default is 1. Upstream: getScoreWeights"""
        weights: dict[str, int] = {}
        total = 0
        own: PluginSet = getattr(self._profile.plugins, point)
        for entry in (*own.enabled, *self._profile.plugins.multi_point.enabled):
            if entry.name in weights or not self._implements(entry.name, point):
                continue
            weights[entry.name] = entry.weight or 1
            if weights[entry.name] * MAX_NODE_SCORE > MAX_TOTAL_SCORE - total:
                raise _InvalidProfileError(_OVERFLOW[point])
            total += weights[entry.name] * MAX_NODE_SCORE
        return weights

    def _check(self) -> None:
        name = self._profile.scheduler_name
        sorters = len(self._names["queue_sort"])
        if sorters != 1:
            raise _InvalidProfileError(f'only one queue sort plugin required for profile with scheduler name "{name}", but got {sorters}')
        if len(self._names.get("placement_generate", ())) > 1:
            raise _InvalidProfileError(f'at most one placement generate plugin is allowed for profile with scheduler name "{name}"')
        if not self._names["bind"]:
            raise _InvalidProfileError(f'at least one bind plugin is needed for profile with scheduler name "{name}"')


def _make_plugins(registry: Registry, profile: KubeSchedulerProfile, handle: Handle) -> dict[str, Plugin]:
    points = ("multi_point", *EXTENSION_POINTS, *PLACEMENT_POINTS)
    needed = {entry.name for point in points for entry in getattr(profile.plugins, point, PluginSet()).enabled}
    made: dict[str, Plugin] = {}
    for name, factory in registry.items():
        if name in needed:
            try:
                made[name] = factory(profile.args(name), handle)
            except ValueError as error:
                raise _InvalidProfileError(f'initializing plugin "{name}": {error}') from error
    return made
