"""Which group a pod belongs to."""

from __future__ import annotations

from schedviz.engine.framework.pod_groups import PodGroupInfo, group_key, group_of
from schedviz.kube.core import Pod, PodSchedulingGroup, PodSpec
from schedviz.kube.meta import ObjectMeta


def test_a_group_is_in_the_namespace_of_its_pods() -> None:
    pod = Pod(metadata=ObjectMeta(name="a", namespace="default"), spec=PodSpec(scheduling_group=PodSchedulingGroup(pod_group_name="train")))

    assert (group_of(pod), group_key(pod)) == (PodGroupInfo("default", "train"), "default/train")
    assert (group_of(Pod()), group_key(Pod())) == (None, "")
