"""Answers about pods are computed once, and stay right as pods come and go."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from schedviz.engine.framework.pod_memo import SelectionMemo
from schedviz.engine.framework.types import PodInfo
from schedviz.kube.core import Pod
from schedviz.kube.meta import ObjectMeta


def pod(namespace: str, labels: dict[str, str], deleted: str | None = None) -> PodInfo:
    return PodInfo(Pod(metadata=ObjectMeta(name="p", namespace=namespace, labels=labels, deletion_timestamp=deleted)))


def test_pods_with_equal_labels_are_evaluated_once() -> None:
    computed_for: list[PodInfo] = []

    def ask(info: PodInfo) -> bool:
        computed_for.append(info)
        return "app" in info.pod.metadata.labels

    memo = SelectionMemo(ask)
    pods = [pod("a", {"app": "x"}), pod("a", {"app": "x"}), pod("b", {"app": "x"}), pod("a", {}), pod("a", {}, "2026-01-01T00:00:00Z")]

    assert memo(pods) == [True, True, True, False, False]
    assert memo(pods[::-1]) == [False, False, True, True, True]
    assert computed_for == [pods[0], pods[2], pods[3], pods[4]]


def test_a_newer_version_of_a_pod_is_selected_by_its_own_labels() -> None:
    memo = SelectionMemo(lambda info: info.pod.metadata.labels.get("app") == "x")
    old = pod("a", {"app": "x"})
    assert memo([old, old.assigned("node-1")]) == [True, True]

    new = old.info_of(pod("a", {"app": "y"}).pod)

    assert memo([new, old, new.assigned("node-1")]) == [False, True, False]


@given(st.lists(st.lists(st.tuples(st.sampled_from("ab"), st.dictionaries(st.sampled_from("xy"), st.sampled_from("12")))), max_size=8))
def test_values_equal_those_without_a_memo(rows: list[list[tuple[str, dict[str, str]]]]) -> None:
    def ask(info: PodInfo) -> bool:
        return info.namespace == "a" and info.pod.metadata.labels.get("x") == "1"

    memo = SelectionMemo(ask)
    for row in rows:
        pods = [pod(namespace, labels) for namespace, labels in row]
        assert memo(pods) == [ask(info) for info in pods]
