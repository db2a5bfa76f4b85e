"""Lines of the scheduler's log about queueing hints."""

from __future__ import annotations

from typing import Any

from schedviz.engine.reporting.scheduler_log.hint_lines import HintCall, hint_line
from schedviz.kube.codec import from_dict


def test_a_pod_with_an_invalid_affinity_has_no_line_if_the_profile_excludes_the_node() -> None:
    terms = [{"matchExpressions": [{"key": "zone", "operator": "Near"}]}]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    pod: Any = from_dict({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"affinity": affinity}})
    node: Any = from_dict({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
    call = HintCall("NodeAffinity", False, "default/p", pod, "Node", "", "n", None, node, lambda _pod: None)  # type: ignore[arg-type, return-value]

    assert hint_line(call) is None
