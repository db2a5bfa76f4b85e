"""Evaluates the queueing hints of plugins: whether an event may make a pod schedulable.

Upstream: scheduler.go buildQueueingHintMap, backend/queue/scheduling_queue.go isEventOfInterest, isPodWorthRequeuing
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from schedviz.engine.framework.types import (
    GVK,
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    QueuedPodInfo,
    QueueingHint,
    QueueingHintError,
    QueueingHintFn,
)
from schedviz.engine.queue.interface import QueueProfiles
from schedviz.engine.queue.v1_36.cluster_events import label_of, matches
from schedviz.kube.core import Pod
from schedviz.kube.meta import KubeObject
from schedviz.trace.events import HintAnswer, RequeueStrategy


class _Registered(NamedTuple):
    """A plugin's registration for one event."""

    label: str
    plugin: str
    hint: QueueingHintFn | None


class _Interested(NamedTuple):
    """The registrations of one profile for an event, and their plugins."""

    registered: list[_Registered]
    plugins: frozenset[str]


class RequeueAdvice(NamedTuple):
    """What to do with a pod after an event, and the hints that were evaluated."""

    strategy: RequeueStrategy
    hints: tuple[HintAnswer, ...] = ()


#: No plugin that rejected the pod waits for the event.
SKIP = RequeueAdvice("skip")
_AFTER_BACKOFF = RequeueAdvice("afterBackoff")


class QueueingHints:
    """What the plugins of each profile have registered for."""

    def __init__(self, profiles: QueueProfiles) -> None:
        #: Scheduler name -> registered events in order of resource, action and plugin, with their plugins.
        self._profiles = {name: _sorted(_hint_map(profile.registered_events())) for name, profile in profiles.items()}
        #: Plugin -> the events that it has registered for, in any profile.
        self._events_of: dict[str, list[ClusterEvent]] = {}
        for registered in self._profiles.values():
            for event, hint in registered:
                self._events_of.setdefault(hint.plugin, []).append(event)
        #: Results of `_interested`, by event and scheduler name.
        self._by_event: dict[tuple[str, ActionType], dict[str, _Interested]] = {}
        #: The event that was looked up last: it is evaluated for one pod after the other.
        self._last_event: ClusterEvent | None = None
        self._by_profile: dict[str, _Interested] = {}

    def is_of_interest(self, event: ClusterEvent) -> bool:
        """Whether any plugin of any profile has registered for the event. Upstream: isEventOfInterest"""
        return event.is_wild_card or any(self._interested(name, event).registered for name in self._profiles)

    def may_ungate(self, queued: QueuedPodInfo, event: ClusterEvent) -> bool:
        """Whether the plugin that gates the pod waits for the event. Upstream: MatchAnyClusterEvent, GatingPluginEvents"""
        return any(matches(registered, event) for registered in self._events_of.get(queued.gating_plugin, ()))

    def evaluate(self, queued: QueuedPodInfo, event: ClusterEvent, old: KubeObject | None, new: KubeObject | None) -> RequeueAdvice:
        """Whether the event may make the pod schedulable. Upstream: isPodWorthRequeuing"""
        rejectors, pending = queued.unschedulable_plugins, queued.pending_plugins
        if not rejectors and not pending:
            return _AFTER_BACKOFF
        if event.is_wild_card:
            is_for_other_pod = new is not None and (not isinstance(new, Pod) or new.uid != queued.uid)
            return SKIP if is_for_other_pod else _AFTER_BACKOFF
        interested = self._interested(queued.pod.spec.scheduler_name, event)
        if interested.plugins.isdisjoint(rejectors) and interested.plugins.isdisjoint(pending):
            return SKIP
        hints: list[HintAnswer] = []
        strategy: RequeueStrategy = "skip"
        for registered in interested.registered:
            if registered.plugin not in rejectors and registered.plugin not in pending:
                continue
            result = _call_hint(registered, queued, old, new)
            hints.append(result)
            if result.hint == "QueueSkip":
                continue
            if registered.plugin in pending:
                return RequeueAdvice("immediately", tuple(hints))
            strategy = "afterBackoff"
            if not pending:
                break
        return RequeueAdvice(strategy, tuple(hints))

    def _interested(self, profile: str, event: ClusterEvent) -> _Interested:
        if event is not self._last_event:
            self._last_event = event
            self._by_profile = self._by_event.setdefault((event.resource, event.action_type), {})
        interested = self._by_profile.get(profile)
        if interested is None:
            registered = [hint for registered_event, hint in self._profiles.get(profile, ()) if matches(registered_event, event)]
            interested = self._by_profile[profile] = _Interested(registered, frozenset(hint.plugin for hint in registered))
        return interested


def _call_hint(registered: _Registered, queued: QueuedPodInfo, old: KubeObject | None, new: KubeObject | None) -> HintAnswer:
    error = ""
    hint = QueueingHint.QUEUE
    if registered.hint is not None:
        try:
            hint = registered.hint(queued.pod_info, old, new)
        except QueueingHintError as failed:
            error = str(failed)
    return HintAnswer(on=registered.label, plugin=registered.plugin, hint=hint.value, error=error)


def _hint_map(registered: Mapping[str, Iterable[ClusterEventWithHint]]) -> list[tuple[ClusterEvent, str, QueueingHintFn | None]]:
    entries: list[tuple[ClusterEvent, str, QueueingHintFn | None]] = []
    for plugin, events in registered.items():
        node_actions = ActionType(0)
        for event in events:
            entries.append((event.event, plugin, event.queueing_hint_fn))
            if event.event.resource == GVK.NODE:
                node_actions |= event.event.action_type
        if node_actions & ActionType.ADD and not node_actions & ActionType.UPDATE_NODE_TAINT:
            # Upstream adds this for every plugin that registers for added nodes: preCheck runs before the hints, and can hide a node.
            entries.append((ClusterEvent(GVK.NODE, ActionType.UPDATE_NODE_TAINT), plugin, None))
    return entries


def _sorted(entries: list[tuple[ClusterEvent, str, QueueingHintFn | None]]) -> list[tuple[ClusterEvent, _Registered]]:
    """By resource and action, then by plugin: upstream's order is that of maps."""
    ordered = sorted(entries, key=lambda entry: (entry[0].resource, int(entry[0].action_type), entry[1]))
    return [(event, _Registered(label_of(event.resource, event.action_type), plugin, hint)) for event, plugin, hint in ordered]
