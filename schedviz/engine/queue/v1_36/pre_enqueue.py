"""Runs PreEnqueue plugins, which decide whether a pod may leave unschedulablePods. Upstream: scheduling_queue.go runPreEnqueuePlugins"""

from __future__ import annotations

from schedviz.engine.framework.interface import PreEnqueuePlugin
from schedviz.engine.framework.types import QueuedPodInfo
from schedviz.engine.queue.interface import QueueProfiles
from schedviz.trace.events import PreEnqueueRan
from schedviz.trace.recorder import Recorder
from schedviz.trace.view import StatusView


class PreEnqueuePlugins:
    """The PreEnqueue plugins of each profile."""

    def __init__(self, recorder: Recorder, profiles: QueueProfiles) -> None:
        self._recorder = recorder
        #: By scheduler name. Upstream's order is that of a map; here it is that of the plugins' names.
        self._plugins: dict[str, list[PreEnqueuePlugin]] = {
            name: sorted(profile.pre_enqueue_plugins, key=lambda plugin: plugin.name) for name, profile in profiles.items()
        }

    def run(self, queued: QueuedPodInfo) -> None:
        """Run plugins until one gates the pod, and set `gated` and `gating_plugin`. The plugin that gates the pod now is run first."""
        plugins = self._plugins.get(queued.pod.spec.scheduler_name, [])
        if queued.gating_plugin:
            plugins = sorted(plugins, key=lambda plugin: plugin.name != queued.gating_plugin)
        passed: list[str] = []
        rejected = None
        for plugin in plugins:
            status = plugin.pre_enqueue(queued.pod_info)
            if status.is_success:
                passed.append(plugin.name)
                continue
            rejected = StatusView(plugin.name, str(status.code), list(status.reasons))
            queued.unschedulable_plugins.add(plugin.name)
            queued.gating_plugin = plugin.name
            break
        else:
            queued.gating_plugin = ""
        queued.gated = bool(queued.gating_plugin)
        if plugins:
            self._recorder.record(PreEnqueueRan, pod=queued.key, passed=passed, rejected=rejected)
