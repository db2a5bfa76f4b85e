"""Which plugins wait for which events: a pod that one of them rejected is worth another try when its event comes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from schedviz.engine.framework.types import ClusterEvent, QueuedPodInfo


class WaitingPlugins:
    """The ClusterEvents that plugins have registered."""

    def __init__(self, cluster_event_map: Mapping[ClusterEvent, Iterable[str]]) -> None:
        self._registered = {event: frozenset(plugins) for event, plugins in cluster_event_map.items()}
        #: What was asked already.
        self._plugins_of: dict[ClusterEvent, frozenset[str]] = {}

    def may_help(self, event: ClusterEvent, queued: QueuedPodInfo) -> bool:
        """Whether a plugin that rejected the pod waits for the event. Upstream: scheduling_queue.go podMatchesEvent"""
        return event.is_wild_card or not self._of(event).isdisjoint(queued.unschedulable_plugins)

    def _of(self, event: ClusterEvent) -> frozenset[str]:
        plugins = self._plugins_of.get(event)
        if plugins is None:
            plugins = self._plugins_of[event] = frozenset().union(
                *(
                    waiting
                    for known, waiting in self._registered.items()
                    if known.is_wild_card or (known.resource == event.resource and known.action_type & event.action_type)
                )
            )
        return plugins
