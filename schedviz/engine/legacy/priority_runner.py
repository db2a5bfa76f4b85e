"""Runs v1.14's priorities in addition to Score."""

from __future__ import annotations

from typing import Any

from schedviz.engine.framework.listers import ObjectLister, SharedLister
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import PodInfo
from schedviz.engine.legacy.priorities_v1_14 import DEFAULT_PRIORITIES, declared, priority_v1_14
from schedviz.engine.legacy.prioritize_nodes import Meta, PriorityConfig, facts, prioritize_nodes
from schedviz.trace.policies import Policies


class PrioritiesV114:
    """Runs v1.14 priorities in addition to Score, for the same pod and nodes. Their result is shown but not used."""

    def __init__(self, configs: list[PriorityConfig], objects: ObjectLister) -> None:
        self.configs = configs
        self._objects = objects

    @classmethod
    def of(cls, policies: Policies, objects: ObjectLister) -> PrioritiesV114 | None:
        """The priorities that the policies name; None: none."""
        if policies.priorities is None:
            return None
        if policies.priorities == "v1.14":
            return cls([priority_v1_14(name, weight) for name, weight in DEFAULT_PRIORITIES.items()], objects)
        configs = [
            priority_v1_14(policy.name, policy.weight) if policy.scores is None else declared(policy.name, policy.weight, policy.scores)
            for policy in policies.priorities
        ]
        return cls(configs, objects)

    def run(self, pod: PodInfo, rows: Rows, snapshot: SharedLister) -> dict[str, Any]:
        """The result of PrioritizeNodes, for the facts of the Score stage."""
        meta = Meta(self._objects, len(snapshot.node_info_list))
        nodes = list(rows.names)
        return facts(prioritize_nodes(pod, meta, snapshot.node_info_map, nodes, self.configs), nodes)
