"""A cache in a checkpoint. Pods and nodes are references into an ObjectTable."""

from __future__ import annotations

import msgspec

from schedviz.engine.cache.node_item import NodeInfoState
from schedviz.engine.framework.object_table import PodRef
from schedviz.trace.view import CacheImage, NodeTree


class PodStateRecord(msgspec.Struct, frozen=True):
    """A PodState in a checkpoint."""

    pod: PodRef
    deadline: int | None
    binding_finished: bool


class CacheState(msgspec.Struct, frozen=True):
    """A cache in a checkpoint. `node_infos` has the head first."""

    generation: int
    ttl: int
    node_infos: list[NodeInfoState]
    pod_states: dict[str, PodStateRecord]
    assumed_pods: list[str]
    node_tree: NodeTree
    image_states: dict[str, CacheImage]
    #: Of the v1.14 cache alone: uid -> the state in which a pod left it.
    left: dict[str, str] = {}
