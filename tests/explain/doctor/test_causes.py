"""The doctor's findings about times, earlier dumps, stale nominations, other clusters, and its own engine."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from schedviz.engine.cache.debugger.dumper import Dump, DumpedNode, DumpedPod
from schedviz.engine.cache.debugger.signal import Signal
from schedviz.engine.config import ConfigurationError
from schedviz.engine.framework.resource import Resource
from schedviz.explain.doctor import Examination, KnownScheduler, examine_dump, examine_dump_alone, examine_engine, examine_objects
from schedviz.explain.doctor.import_check import cut_examination, examine_import, scheduler_of
from schedviz.ingest.load import Import
from schedviz.ingest.logs.scheduler_log import SchedulerLog
from schedviz.kube import codec
from schedviz.kube.defaults import default_object
from schedviz.kube.meta import KubeObject
from tests.explain import small_clusters as small

NODE = small.node("n")
EXTENDER = {"urlPrefix": "http://extender:1003/v1", "filterVerb": "filter", "bindVerb": "bind"}


def objects(*found: dict[str, Any]) -> list[KubeObject]:
    return [default_object(codec.from_dict(obj)) for obj in found]


def dumped(*pods: str, nominated: tuple[str, ...] = (), pending: tuple[str, ...] = (), name: str = "n", cpu: int = 0) -> Dump:
    allocatable = Resource(4000, 16 << 30, 0, 110)
    on_node = tuple(DumpedPod(pod, "default", pod, "Running") for pod in pods)
    waits = tuple(DumpedPod(pod, "default", pod, "Pending", name) for pod in nominated)
    queue = tuple(DumpedPod(pod, "default", pod, "Pending") for pod in pending)
    return Dump((DumpedNode(name, Resource(cpu), allocatable, pods=on_node, nominated=waits),), "", queue)


def kinds(examination: Examination) -> list[str]:
    return [finding.kind for finding in examination.findings]


def test_a_pod_that_stays_assumed_from_dump_to_dump_hangs_in_its_binding() -> None:
    result = objects(NODE, small.pod("slow"))
    now = Signal(dumped("slow", cpu=1000), seconds=100.0)
    assert kinds(examine_dump(result, now)) == ["assumed pod"]
    assert kinds(examine_dump(result, now, earlier=[Signal(dumped("slow"), seconds=90.0)])) == ["assumed pod"]
    examination = examine_dump(result, now, earlier=[Signal(dumped("slow"), seconds=40.0)])
    assert [finding.kind for finding in examination.differences] == ["hanging binding"]


def test_a_pod_nominated_where_it_fits_waits_for_an_extender_that_preemption_does_not_call() -> None:
    waiting = small.pod("waits", priority=0)
    waiting["status"]["nominatedNodeName"] = "n"
    result = objects(NODE, waiting)
    signal = Signal(dumped(nominated=("waits",), pending=("waits",)))
    (finding,) = examine_dump(result, signal).differences
    assert (finding.kind, finding.cause.partition(",")[0]) == (
        "nominated for ever",
        "something that preemption does not consult rejects the node",
    )
    without_verb = scheduler_of({"extenders": [EXTENDER]})
    for examination in (examine_dump(result, signal, scheduler=without_verb), examine_objects(result, scheduler=without_verb)):
        (finding,) = examination.differences
        assert finding.cause.startswith("the extender http://extender:1003/v1 has a filterVerb but no preemptVerb")
        assert "preemptVerb" in finding.advice


def test_with_a_preempt_verb_the_extender_is_not_blamed() -> None:
    waiting = small.pod("waits", priority=0)
    waiting["status"]["nominatedNodeName"] = "n"
    with_verb = scheduler_of({"extenders": [{**EXTENDER, "preemptVerb": "preempt"}]})
    (finding,) = examine_objects(objects(NODE, waiting), scheduler=with_verb).differences
    assert "extender" not in finding.cause


def test_a_pod_nominated_to_a_deleted_node_is_found() -> None:
    waiting = small.pod("waits")
    waiting["status"]["nominatedNodeName"] = "gone"
    assert kinds(examine_objects(objects(NODE, waiting))) == ["nomination unknown"]


def test_a_log_of_another_cluster_is_one_finding() -> None:
    examination = examine_dump(objects(NODE, small.pod("a", on="n")), Signal(dumped("b", name="other")))
    assert kinds(examination) == ["nothing in common"]


def test_a_truncated_dump_is_noted() -> None:
    signal = Signal(msgspec.structs.replace(dumped(), summary="activeQ:2; backoffQ:0; unschedulablePods:1"))
    assert kinds(examine_dump(objects(NODE), signal)) == ["cut dump"]


def test_a_pod_that_is_listed_but_not_counted_is_named() -> None:
    (finding,) = examine_dump(objects(NODE, small.pod("a", on="n")), Signal(dumped("a"))).differences
    assert finding.cause == "pod default/a is listed but not counted"


def test_a_dump_alone_shows_room_for_nominated_pods_and_overcommitment() -> None:
    over = DumpedNode("n", Resource(5000, 0, 0, 0, {"x.io/ip": 1}), Resource(4000, 1 << 30, 0, 110))
    examination = examine_dump_alone(Signal(Dump((over,))))
    assert [(finding.kind, finding.differs) for finding in examination.findings] == [("overcommitted", True), ("unknown resource", False)]
    (note,) = examine_dump_alone(Signal(dumped(nominated=("waits",), pending=("waits",), cpu=1500))).findings
    assert note.sentence == "pod default/waits is nominated to n, where cpu 2500m, memory 16Gi are free"


def test_names_of_profiles_decide_whose_pod_it_is() -> None:
    own = small.pod("own", schedulerName="mine")
    assert kinds(examine_dump(objects(NODE, own), Signal(dumped()))) == ["other scheduler"]
    assert kinds(examine_dump(objects(NODE, own), Signal(dumped()), scheduler=KnownScheduler(("mine",)))) == ["missed pod"]
    assert scheduler_of({"profiles": [{"schedulerName": "mine"}]}).names == ("mine",)
    with pytest.raises(ConfigurationError):
        scheduler_of({"profiles": "none"})


def test_an_engine_agrees_with_itself_before_and_after_its_cycles() -> None:
    simulation = small.cluster(NODE, small.pod("a"), small.pod("b", cpu="9"))
    assert kinds(examine_engine(simulation)) == ["snapshot is older"]
    small.do(simulation, "run")
    assert not examine_engine(simulation).differences


def test_a_node_info_that_changed_without_a_generation_is_found_in_the_snapshot() -> None:
    simulation = small.cluster(NODE, small.pod("a"))
    small.do(simulation, "run")
    small.do(simulation, "snapshot")
    info = next(iter(simulation.scheduler.state.cache.nodes))
    info.requested.milli_cpu += 5
    assert "stale snapshot" in kinds(examine_engine(simulation))


def test_a_report_keeps_the_numbers_when_it_cuts_the_findings() -> None:
    lost = [small.pod(f"lost-{number}", on="n") for number in range(300)]
    (examination,) = examine_import(Import(tuple(objects(NODE, *lost)), logs=(SchedulerLog("log", (Signal(dumped()),)),)))
    result = cut_examination(examination)
    assert result is not None
    assert (len(result["findings"]), result["differences"]) == (200, 300)
