"""A cache in a checkpoint. Pods and nodes are references into an ObjectTable."""

from __future__ import annotations

import msgspec

from schedviz.engine.cache.node_item import NodeInfoState
from schedviz.engine.cache.podgroup_state import PodGroupRecord
from schedviz.engine.framework.object_table import PodRef
from schedviz.trace.view import NodeTree


class PodStateRecord(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """A PodState in a checkpoint; its key is the pod's uid."""

    pod: PodRef
    deadline: int | None = None
    binding_finished: bool = False


class ImageRecord(msgspec.Struct, frozen=True, array_like=True):
    """An image on nodes; the nodes are positions in the sorted list of all nodes that have images."""

    name: str
    size: int
    nodes: list[int]


class ImagesRecord(msgspec.Struct, frozen=True, array_like=True):
    """All images on nodes."""

    nodes: list[str]
    images: list[ImageRecord]


class CacheState(msgspec.Struct, frozen=True):
    """A cache in a checkpoint. `node_infos` starts with the head."""

    generation: int
    ttl: int
    node_infos: list[NodeInfoState]
    pod_states: list[PodStateRecord]
    assumed_pods: list[str]
    node_tree: NodeTree
    image_states: ImagesRecord
    #: Only for the v1.14 cache: uid of a pod that left -> its state since then (`PodStateName`), Expired or Deleted.
    left: dict[str, str] = {}
    #: v1.36: the pod groups, and the number of changes to them; None: they are not tracked.
    pod_groups: list[PodGroupRecord] | None = None
    pod_group_changes: int = 0
