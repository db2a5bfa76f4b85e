"""Where a pod is in the queue, and what requeues it."""

from __future__ import annotations

from schedviz.explain.queue_place import queue_place
from tests.explain.small_clusters import cluster, do, node, pod


def test_plugins_that_returned_pending_are_among_those_that_rejected_the_pod() -> None:
    simulation = cluster(node("n1"), pod("p", cpu="99"), release="v1.36")
    do(simulation, "run")
    queued = simulation.scheduler.state.queue.find("default/p")
    assert queued is not None
    queued.pending_plugins = {"VolumeBinding"}

    place = queue_place(simulation, "default/p")

    assert place is not None
    assert place.plugins == ("NodeResourcesFit", "VolumeBinding")
    assert {wake.plugin for wake in place.wakes} == {"NodeResourcesFit", "VolumeBinding"}
