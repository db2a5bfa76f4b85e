"""The sentence of a step if there is nothing to schedule."""

from __future__ import annotations

import pytest

from schedviz.engine.reporting.idle import why_idle
from schedviz.trace.releases import V1_36
from tests.engine.clusters import do, four_nodes, pod


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["p"], "activeQ is empty; 1 pod is gated until the PreEnqueue plugins admit it"),
        (["p", "q"], "activeQ is empty; 2 pods are gated until the PreEnqueue plugins admit them"),
    ],
)
def test_gated_pods_do_not_count_as_waiting_for_a_change_in_the_cluster(names: list[str], said: str) -> None:
    gated = [pod(name, schedulingGates=[{"name": "example.com/quota"}]) for name in names]
    simulation = four_nodes(*gated, release=V1_36)
    do(simulation, "step")
    assert why_idle(simulation) == said
