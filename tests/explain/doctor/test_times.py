"""When a dump and the objects were taken, and what cannot be compared because it changed in between."""

from __future__ import annotations

from typing import Any

import msgspec

from schedviz.engine.cache.debugger.comparer import Mismatch
from schedviz.engine.cache.debugger.dumper import Dump, DumpedNode, DumpedPod
from schedviz.engine.cache.debugger.signal import Signal
from schedviz.engine.framework.resource import Resource
from schedviz.explain.doctor import Examination, KnownScheduler, examine_dump, examine_objects
from schedviz.explain.doctor.times import NOT_COMPARED
from schedviz.kube import codec
from schedviz.kube.defaults import default_object
from schedviz.kube.meta import KubeObject
from tests.explain import small_clusters as small

#: Times in the log, which is eight hours ahead of the API server's clock.
DUMP = "0101 20:00:30.000000"
LONG_AGO = "2026-01-01T09:00:00Z"


def pod(name: str, created: str = LONG_AGO, *, bound: str = "", cpu: str = "1") -> dict[str, Any]:
    made: dict[str, Any] = small.pod(name, on="n" if bound else "", cpu=cpu)
    made["metadata"]["creationTimestamp"] = created
    if bound:
        made["status"]["conditions"] = [{"type": "PodScheduled", "status": "True", "lastTransitionTime": bound}]
    return made


def at_api(*pods: dict[str, Any]) -> list[KubeObject]:
    node = small.node("n")
    node["metadata"]["creationTimestamp"] = LONG_AGO
    return [default_object(codec.from_dict(obj)) for obj in (node, *pods)]


def dumped(*pods: str, pending: tuple[str, ...] = (), at: str = DUMP, **members: Any) -> Signal:
    on_node = tuple(DumpedPod(pod, "default", pod, "Running") for pod in pods)
    queue = tuple(DumpedPod(pod, "default", pod, "Pending") for pod in pending)
    node = DumpedNode("n", Resource(1000 * len(pods)), Resource(4000, 16 << 30, 0, 110), pods=on_node)
    # The binding of "clock" tells the time zone.
    bound = {"default/clock": "0101 20:00:00.300000", **members.pop("bound", {})}
    return Signal(Dump((node,), "", queue), Mismatch(), at, bound=bound, attempts={**bound, **members.pop("attempts", {})}, **members)


CLOCK = pod("clock", "2026-01-01T11:59:59Z", bound="2026-01-01T12:00:00Z")


def not_compared(examination: Examination) -> list[str]:
    return [finding.sentence for finding in examination.findings if finding.kind == NOT_COMPARED]


def differences(examination: Examination) -> list[tuple[str, str]]:
    return [(finding.kind, finding.about) for finding in examination.differences]


def test_objects_that_are_newer_than_the_dump_say_so() -> None:
    late = pod("late", "2026-01-01T12:00:41Z")
    examination = examine_dump(at_api(CLOCK, late), dumped("clock"))

    assert differences(examination) == []
    assert not_compared(examination) == ["1 pod (default/late) cannot be compared: they may have changed between the dump and the objects"]
    assert examination.findings[-1].cause == "the objects are at least 11 s newer than the dump"


def test_a_pod_that_was_there_before_an_older_dump_is_missed() -> None:
    late = pod("late", "2026-01-01T12:00:41Z")
    examination = examine_dump(at_api(CLOCK, late, pod("old", bound=LONG_AGO)), dumped("clock"))

    assert differences(examination) == [("missed pod", "Pod default/old")]


def test_pods_that_are_gone_from_newer_objects_are_not_compared() -> None:
    late = pod("late", "2026-01-01T12:00:41Z")
    examination = examine_dump(at_api(CLOCK, late), dumped("clock", "gone", pending=("never-placed",)))

    assert differences(examination) == []
    [note] = not_compared(examination)
    assert note.startswith("3 pods (default/gone, default/never-placed, default/late)")


NEW = pod("new", "2026-01-01T11:59:58Z")


def test_a_dump_that_is_newer_than_the_objects_is_known_by_a_binding_that_they_lack() -> None:
    bound = {"default/new": "0101 20:00:20.500000"}
    examination = examine_dump(at_api(CLOCK, NEW, pod("deleted", bound=LONG_AGO)), dumped("clock", "new", bound=bound))

    assert differences(examination) == []
    [note] = not_compared(examination)
    assert note.startswith("2 pods (default/new, default/deleted)")
    assert examination.findings[-1].cause == "the dump is newer than the objects, where pod default/new is not bound, as it is in the log"


def test_a_pod_that_both_dumps_around_the_objects_have_is_redundant() -> None:
    bound = {"default/new": "0101 20:00:20.500000"}
    before = dumped("stale", at="0101 19:59:00.000000")
    examination = examine_dump(at_api(CLOCK, NEW), dumped("clock", "new", "stale", bound=bound), earlier=[before])

    assert differences(examination) == [("redundant pod", "Pod default/stale")]


def test_a_pod_that_a_dump_before_the_objects_lacks_is_missed() -> None:
    bound = {"default/new": "0101 20:00:20.500000"}
    before = dumped(at="0101 19:59:00.000000")
    result = at_api(CLOCK, NEW, pod("missed", bound=LONG_AGO))
    examination = examine_dump(result, dumped("clock", "new", bound=bound), earlier=[before])

    assert differences(examination) == [("missed pod", "Pod default/missed")]


def test_a_pod_that_is_being_tried_is_in_neither_cache_nor_queue() -> None:
    result = at_api(CLOCK, pod("tried"))

    assert differences(examine_dump(result, dumped("clock", tried_next=frozenset({"default/tried"})))) == []
    assert differences(examine_dump(result, dumped("clock"))) == [("missed pod", "Pod default/tried")]


def test_in_a_busy_cluster_a_pod_that_only_one_side_has_may_have_been_deleted() -> None:
    bound = {f"default/gone-{number}": "0101 20:00:20.500000" for number in range(3)}
    old = pod("old", bound=LONG_AGO)
    examination = examine_dump(at_api(CLOCK, old), dumped("clock", "gone-1", bound=bound))

    assert differences(examination) == []
    [note] = not_compared(examination)
    assert note.startswith("2 pods (default/gone-1, default/old)")
    assert examination.findings[-1].cause == "pods were created or deleted around the time of the dump"


def test_amounts_are_not_compared_if_the_files_are_of_different_times() -> None:
    late = pod("late", "2026-01-01T12:00:41Z")
    resized = pod("resized", bound=LONG_AGO, cpu="3")

    assert differences(examine_dump(at_api(CLOCK, resized), dumped("clock", "resized"))) == [("requested", "Node n")]
    examination = examine_dump(at_api(CLOCK, resized, late), dumped("clock", "resized"))
    assert differences(examination) == []
    assert "1 node (n)" in not_compared(examination)[0]


def test_objects_that_the_schedulers_comparer_names_are_differences_at_any_time() -> None:
    late = pod("late", "2026-01-01T12:00:41Z")
    signal = msgspec.structs.replace(dumped("clock", "gone"), mismatch=Mismatch(redundant_pods=["gone"]))

    assert differences(examine_dump(at_api(CLOCK, late), signal)) == [("redundant pod", "Pod default/gone")]


def test_nothing_is_left_out_without_evidence_of_different_times() -> None:
    examination = examine_dump(at_api(CLOCK, pod("old", bound=LONG_AGO)), dumped("clock", "gone"))

    assert differences(examination) == [("redundant pod", "Pod default/gone"), ("missed pod", "Pod default/old")]
    assert not_compared(examination) == []


def nominated(**members: Any) -> list[KubeObject]:
    waits = pod("waits")
    waits["spec"].update(members)
    waits["status"]["nominatedNodeName"] = "n"
    return at_api(waits)


def refused(message: str, reason: str = "Unschedulable") -> list[KubeObject]:
    waits = pod("waits")
    waits["status"]["nominatedNodeName"] = "n"
    waits["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": reason, "message": message}]
    return at_api(waits)


def test_a_nomination_without_a_preemption_is_no_endless_one() -> None:
    newer = KnownScheduler(nominates_before_binding=True)

    assert differences(examine_objects(nominated())) == [("nominated for ever", "Pod default/waits")]
    assert differences(examine_objects(nominated(), scheduler=newer)) == []
    assert differences(examine_objects(nominated(schedulingGates=[{"name": "quota"}]))) == []
    message = "0/1 nodes are available: 1 x. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    assert differences(examine_objects(refused(message), scheduler=newer)) == []
    timeout = 'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'
    assert differences(examine_objects(refused(timeout, "SchedulerError"), scheduler=newer)) == []
    assert differences(examine_objects(refused("0/1 nodes are available: 1 x."), scheduler=newer)) == [
        ("nominated for ever", "Pod default/waits")
    ]
