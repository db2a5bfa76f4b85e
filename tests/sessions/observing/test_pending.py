"""Which pods of a followed cluster its scheduler has probably decided on, by the order of activeQ and the pods' conditions."""

from __future__ import annotations

from schedviz.kube.core import Pod, PodCondition, PodSchedulingGate, PodSpec, PodStatus
from schedviz.kube.meta import ObjectMeta
from schedviz.sessions.observing.pending import PendingPods, is_waiting, place_of

REJECTED = PodStatus(conditions=(PodCondition(type="PodScheduled", status="False", reason="Unschedulable"),))


def pod(name: str, *, priority: int = 0, status: PodStatus | None = None, **spec: object) -> Pod:
    return Pod(metadata=ObjectMeta(name=name, uid=name), spec=PodSpec(priority=priority, **spec), status=status or PodStatus())  # type: ignore[arg-type]


def waiting(*pods: Pod) -> PendingPods:
    pending = PendingPods()
    for pod in pods:
        pending.add(pod, after_move=0)
    return pending


def ahead(pending: PendingPods, bound: Pod) -> set[str]:
    """The pods that were decided before one that is bound now."""
    removed = pending.remove(bound.uid)
    assert removed is not None
    return pending.ahead_of(removed.rank)


def test_earlier_pods_and_pods_of_higher_priority_are_ahead() -> None:
    first, second, third, high = pod("first"), pod("second"), pod("third"), pod("high", priority=10)
    assert ahead(waiting(first, second, third, high), second) == {"first", "high"}
    assert ahead(waiting(first, second, third, high), high) == set()


def test_rejected_nominated_and_gated_pods_do_not_delay_others() -> None:
    pending = waiting(pod("rejected"), pod("nominated"), pod("gated", scheduling_gates=(PodSchedulingGate("quota"),)))
    last = pod("last")
    pending.add(last, after_move=0)
    assert pending.add(pod("rejected", status=REJECTED), after_move=0) == "unschedulable"
    assert pending.add(pod("nominated", status=PodStatus(nominated_node_name="n")), after_move=0) == "nominated"
    assert ahead(pending, last) == set()


def test_a_gated_pod_enters_the_queue_when_its_gates_are_removed() -> None:
    pending = waiting(pod("gated", scheduling_gates=(PodSchedulingGate("quota"),)), pod("other"))
    assert pending.add(pod("gated"), after_move=1) == "active"
    assert ahead(pending, pod("gated")) == {"other"}


def test_an_undecided_pod_no_longer_blocks_others_once_passed_by_and_keeps_its_rank() -> None:
    stuck, last = pod("stuck"), pod("last")
    pending = waiting(stuck, last)
    rank = pending.ahead_of((0, 99))
    assert rank == {"stuck", "last"}
    pending.pass_by(["stuck"])
    assert ahead(pending, last) == set()
    removed = pending.remove("stuck")
    assert removed is not None
    assert (removed.rank, removed.place) == ((0, 1), "active")


def test_a_pods_conditions_imply_its_place_in_the_queue() -> None:
    assert [place_of(one) for one in (pod("p"), pod("p", status=REJECTED))] == ["active", "unschedulable"]
    assert is_waiting(pod("p"))
    assert not is_waiting(pod("p", node_name="n"))
