"""The cache of v1.36: assumed pods do not expire, and forgetting an unknown pod is no error.

Upstream: backend/cache/cache.go
"""

from __future__ import annotations

from typing import ClassVar

from schedviz.engine.cache.cache import Cache
from schedviz.engine.cache.cache_state import CacheState
from schedviz.engine.cache.errors import CacheError
from schedviz.engine.cache.image_states import ImageStates
from schedviz.engine.cache.image_states_v1_36 import ImageStatesV136
from schedviz.engine.framework.object_table import ObjectTable
from schedviz.engine.framework.types import PodInfo, SharedImages
from schedviz.kube.core import Pod
from schedviz.trace.recorder import Recorder


class CacheV136(Cache):
    """NodeInfos, pods, the node tree and images."""

    image_states_class: ClassVar[type[ImageStates]] = ImageStatesV136

    def image_counts_of_ghosts(self) -> dict[str, dict[str, int]]:
        """Ghost -> image -> the number of nodes that have it. An image that no node has is forgotten, but ghosts keep it."""
        return {
            info.name: {name: image.num_nodes for name, image in info.image_states.current().items()}
            for info in self.nodes
            if info.node is None and isinstance(info.image_states, SharedImages)
        }

    @classmethod
    def from_state(cls, state: CacheState, recorder: Recorder, table: ObjectTable) -> Cache:
        """The cache of a checkpoint."""
        cache = super().from_state(state, recorder, table)
        assert isinstance(cache.image_states, ImageStatesV136)
        for info in cache.nodes:
            cache.image_states.share_with(info)
        return cache

    def finish_binding(self, pod: PodInfo | Pod, now: int) -> None:
        """Nothing: there is no time after which an assumed pod expires."""

    def cleanup_assumed_pods(self, now: int) -> list[PodInfo]:  # noqa: ARG002
        """Nothing."""
        return []

    def next_expiry(self) -> int | None:
        """None: no assumed pod expires."""
        return None

    def forget_pod(self, pod: PodInfo | Pod) -> None:
        """Remove an assumed pod; one that is not in the cache is no error. Raises CacheError. Upstream: cache.go ForgetPod"""
        info = self._info(pod)
        state = self.pod_states.get(info.uid)
        own, others = info.pod.spec.node_name, "" if state is None else state.info.pod.spec.node_name
        if state is not None and own != others:
            raise CacheError(f"pod {info.uid}({info.key}) was assumed on {own} but assigned to {others}")
        if info.uid in self.assumed_pods:
            self._remove_and_record("forget", info)
        elif state is not None:
            raise CacheError(f"pod {info.uid}({info.key}) wasn't assumed so cannot be forgotten")
