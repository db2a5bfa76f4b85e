"""An event may help the pods that were rejected by a plugin that waits for it."""

from __future__ import annotations

import pytest

from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, PodInfo, QueuedPodInfo
from schedviz.engine.queue.v1_27 import events
from schedviz.engine.queue.v1_27.events import ClusterEventMap
from schedviz.kube.core import Pod

WAITING = ClusterEventMap(
    {
        ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL): ["NodeAffinity"],
        ClusterEvent(GVK.POD, ActionType.ALL): ["InterPodAffinity"],
        ClusterEvent(GVK.WILD_CARD, ActionType.ALL): ["Anything"],
    }
)


@pytest.mark.parametrize(
    ("event", "plugin", "helps"),
    [
        (events.NODE_ADD, "NodeAffinity", True),
        (events.NODE_LABEL_CHANGE, "NodeAffinity", True),
        (events.NODE_TAINT_CHANGE, "NodeAffinity", False),
        (events.ASSIGNED_POD_DELETE, "NodeAffinity", False),
        (events.ASSIGNED_POD_DELETE, "InterPodAffinity", True),
        (events.STORAGE_CLASS_ADD, "Anything", True),
        (events.UNSCHEDULABLE_TIMEOUT, "NodeAffinity", True),
        (events.NODE_ADD, "Unknown", False),
    ],
)
def test_an_event_may_help_the_pods_whose_plugins_registered_it(event: ClusterEvent, plugin: str, *, helps: bool) -> None:
    queued = QueuedPodInfo(PodInfo(Pod()), timestamp=0)
    queued.unschedulable_plugins = {plugin}

    assert WAITING.may_help(event, queued) is helps
