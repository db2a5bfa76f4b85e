"""Transfers plugins' state to their successors when a scheduler gets another configuration."""

from __future__ import annotations

from schedviz.engine.framework.interface import ObjectWatcher, StatefulPlugin
from schedviz.engine.framework.runtime.framework import Framework
from schedviz.kube.meta import KubeObject


def transfer_state(before: Framework | None, after: Framework) -> None:
    """Give the plugins of a new profile the state of its predecessor.

    Plugins that watch objects get all existing objects, as from an informer's first list. Then each plugin whose arguments have not changed
    takes over its predecessor's state.
    """
    for plugin in after.plugins.by_name.values():
        if isinstance(plugin, ObjectWatcher):
            for kind in plugin.watched_kinds:
                for obj in after.objects.list(kind):
                    plugin.object_changed("ADDED", obj)
    if before is None:
        return
    former = {plugin.name: plugin for plugin in before.stateful_plugins}
    for successor in after.stateful_plugins:
        name = successor.name
        if name in former and before.plugins.args(name) == after.plugins.args(name):
            _take_over(successor, former[name])


def _take_over(plugin: StatefulPlugin, former: StatefulPlugin) -> None:
    objects: list[KubeObject] = []

    def number(obj: KubeObject) -> int:
        objects.append(obj)
        return len(objects) - 1

    plugin.load(former.to_state(number), lambda _, index: objects[index])
