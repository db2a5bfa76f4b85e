"""Output of a real v1.36 cluster is read, and explained as its scheduler does. tests/samples/README.md has the origin of the files."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from schedviz.cli.loading import settings_for
from schedviz.engine import Simulation
from schedviz.explain.doctor.import_check import examine_import
from schedviz.explain.doctor.times import NOT_COMPARED
from schedviz.explain.pending.overview import overview
from schedviz.explain.why import why_pending
from schedviz.ingest.files.source import Source
from schedviz.ingest.load import Import, load
from schedviz.kube.core import Pod
from schedviz.trace.releases import V1_27, V1_36

FOLDER = Path(__file__).parents[1] / "samples" / "live136"
#: Pods whose message depends on objects other than nodes and pods, or on an earlier state of the cluster.
REPORTED_EARLIER = {"kept-off-by-guard", "near-nobody", "spread-no-label", "spread-zone-0", "spread-zone-1", "spread-zone-2"}
NEED_OTHER_OBJECTS = {
    *("claim-lost", "class-missing", "no-claim", "no-volume-fits", "pinned-elsewhere", "rwop-second", "too-many-volumes"),
    *("unbound-immediate", "dra-missing", "dra-no-device"),
}


def sample(name: str) -> bytes:
    path = FOLDER / name
    return lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()


def imported(*names: str) -> Import:
    return load([Source.of_bytes(name.removesuffix(".xz"), sample(name)) for name in names])


@pytest.fixture(scope="module")
def cluster() -> Simulation:
    result = imported("objects.json.xz")
    simulation = Simulation(settings_for(result))
    simulation.load(result.objects)
    return simulation


@pytest.fixture(scope="module")
def every_kind() -> Simulation:
    result = imported("pending.json.xz")
    simulation = Simulation(settings_for(result))
    simulation.load(result.objects)
    return simulation


def refused_pods() -> dict[str, str]:
    """Pods that the real scheduler refused -> its message."""
    items: list[dict[str, Any]] = json.loads(sample("objects.json.xz"))["items"]
    return {
        item["metadata"]["name"]: condition["message"]
        for item in items
        if item["kind"] == "Pod"
        for condition in item["status"].get("conditions", ())
        if (condition["type"], condition.get("reason")) == ("PodScheduled", "Unschedulable")
    }


def test_pods_are_rejected_with_the_message_of_the_real_scheduler_including_preemption(cluster: Simulation) -> None:
    messages = refused_pods()
    compared = messages.keys() - REPORTED_EARLIER - NEED_OTHER_OBJECTS
    ours = {name: why_pending(cluster, f"pend/{name}").message for name in compared}

    assert len(compared) == 18
    assert ours == {name: messages[name] for name in compared}


@pytest.mark.parametrize("name", sorted(refused_pods()))
def test_no_pod_that_the_real_scheduler_refused_fits(cluster: Simulation, name: str) -> None:
    assert not why_pending(cluster, f"pend/{name}").fits


def test_a_healthy_cluster_has_no_differences() -> None:
    result = imported("objects.json.xz", "scheduler.log.xz", "kubeschedulerconfiguration.yaml")
    (examination,) = examine_import(result, release=result.evidence.suggested)

    assert [len(log.signals) for log in result.logs] == [2]
    assert [finding.sentence for finding in examination.differences] == []


@pytest.mark.parametrize("pair", ["busy-objects-then-dump", "busy-dump-then-objects"])
def test_changes_between_dump_and_objects_are_not_differences(pair: str) -> None:
    result = imported(f"{pair}.json.xz", f"{pair}.log.xz")
    (examination,) = examine_import(result, release=result.evidence.suggested)

    assert [finding.sentence for finding in examination.differences] == []
    [note] = [finding for finding in examination.notes if finding.kind == NOT_COMPARED]
    assert note.advice.startswith("send SIGUSR2 before and after the objects are collected")


def test_every_message_of_74_kinds_of_pods_is_computed_word_for_word(every_kind: Simulation) -> None:
    items: list[dict[str, Any]] = json.loads(sample("pending.json.xz"))["items"]
    waiting = [item for item in items if item["kind"] == "Pod" and not item["spec"].get("nodeName")]
    messages = {
        f"{item['metadata']['namespace']}/{item['metadata']['name']}": next(
            (one["message"] for one in item["status"].get("conditions", ()) if one["type"] == "PodScheduled"), ""
        )
        for item in waiting
    }

    assert len(messages) == 74
    assert {pod: why_pending(every_kind, pod).message for pod in messages} == messages


def test_no_pod_of_74_kinds_is_reported_to_fit(every_kind: Simulation) -> None:
    pending = [pod for pod in every_kind.stored_objects() if isinstance(pod, Pod) and not pod.spec.node_name]
    explained = [why_pending(every_kind, pod.key) for pod in pending]

    assert len(explained) == 74
    assert [one.pod for one in explained if one.standing == "pending" and one.fits] == []
    assert [one.pod for one in explained if one.for_ever or one.disagreement] == []


def test_a_pod_whose_volume_is_provisioned_is_not_nominated_for_ever(every_kind: Simulation) -> None:
    explanation = why_pending(every_kind, "more/provisioning")

    assert explanation.sentence == (
        "more/provisioning is nominated to node-032 without a preemption: its scheduler has chosen the node, and its binding waits until "
        "slow.live has provisioned the claim `more/slow`."
    )


def test_an_error_of_a_plugin_is_not_explained_as_a_rejection(every_kind: Simulation) -> None:
    explanation = why_pending(every_kind, "more/dra-cel-error")

    assert explanation.failed
    assert explanation.sentence == (
        "more/dra-cel-error is pending: every scheduling attempt fails with an error: the expression of claim "
        "more/cel-error: selector #0 fails on a device: no such key: nothing."
    )


def test_a_configuration_that_only_one_release_reads_selects_that_release() -> None:
    node = Source.of_bytes("node.json", b'{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}')
    config = Source.of_bytes("config.yaml", sample("kubeschedulerconfiguration.yaml"))

    assert load([node]).evidence.suggested == V1_27
    assert load([node, config]).evidence.config_releases == (V1_36,)
    assert load([node, config]).evidence.suggested == V1_36


def test_a_cluster_info_dump_with_empty_lists_is_read() -> None:
    result = imported("cluster-info-dump.txt.xz")

    assert result.report.kinds["Node"] == 50
    assert result.evidence.kubelet == "v1.36.0"


def test_without_objects_a_log_with_a_dump_explains_pods_by_their_schedulers_messages() -> None:
    result = imported("scheduler.log.xz")
    simulation = Simulation(settings_for(result))
    simulation.load(result.objects)
    of_pod = {pod: reason for reason in overview(simulation).reasons for group in reason.groups for pod in group.pods}

    assert of_pod["pend/big-mem"].headline == "44 nodes do not have enough free memory"
    assert of_pod["pend/big-cpu"].headline == "44 nodes do not have enough free CPU"
    assert of_pod["pend/gated"].reason == "only their names are known, from a SIGUSR2 dump"
    explanation = why_pending(simulation, "pend/big-mem")
    assert (explanation.message, explanation.disagreement) == ("", "")


def test_since_when_a_pod_is_unschedulable_is_read_from_its_condition(cluster: Simulation) -> None:
    items: list[dict[str, Any]] = json.loads(sample("objects.json.xz"))["items"]
    [pod] = [item for item in items if item["metadata"]["name"] == "big-cpu"]
    [condition] = [each for each in pod["status"]["conditions"] if each["type"] == "PodScheduled"]
    assert why_pending(cluster, "pend/big-cpu").said_since == condition["lastTransitionTime"]
