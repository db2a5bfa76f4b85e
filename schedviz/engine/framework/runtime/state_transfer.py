"""What plugins remember, handed down to those that take their place when a scheduler is given another configuration."""

from __future__ import annotations

from schedviz.engine.framework.interface import ObjectWatcher, StatefulPlugin
from schedviz.engine.framework.runtime.framework import Framework
from schedviz.kube.meta import KubeObject


def transfer_state(before: Framework | None, after: Framework) -> None:
    """Let a profile that was just made know what its predecessor knew.

    Plugins that watch objects are told of all that there are, as when informers list; then a plugin whose arguments have not changed
    takes over its predecessor's memory.
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

    plugin.load(former.to_state(number), lambda _, place: objects[place])
