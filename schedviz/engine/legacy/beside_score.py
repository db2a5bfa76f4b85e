"""Runs the priorities that a session's policies name beside Score, for the same pod and the same nodes."""

from __future__ import annotations

from typing import Any

from schedviz.engine.framework.listers import ObjectLister, SharedLister
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import PodInfo
from schedviz.engine.legacy.classic_priorities import DEFAULT_PRIORITIES, classic, declared
from schedviz.engine.legacy.priorities import Meta, PriorityConfig, facts, prioritize_nodes
from schedviz.trace.policies import Policies


class BesideScore:
    """The priority pipeline of one session."""

    def __init__(self, configs: list[PriorityConfig], objects: ObjectLister) -> None:
        self.configs = configs
        self._objects = objects

    @classmethod
    def of(cls, policies: Policies, objects: ObjectLister) -> BesideScore | None:
        """What the policies ask for; None: nothing."""
        if policies.priorities is None:
            return None
        if policies.priorities == "v1.14":
            return cls([classic(name, weight) for name, weight in DEFAULT_PRIORITIES.items()], objects)
        configs = [
            classic(asked.name, asked.weight) if asked.scores is None else declared(asked.name, asked.weight, asked.scores)
            for asked in policies.priorities
        ]
        return cls(configs, objects)

    def run(self, pod: PodInfo, rows: Rows, snapshot: SharedLister) -> dict[str, Any]:
        """What PrioritizeNodes would give, for the stage's facts."""
        meta = Meta(self._objects, len(snapshot.node_info_list))
        nodes = list(rows.names)
        return facts(prioritize_nodes(pod, meta, snapshot.node_info_map, nodes, self.configs), nodes)
