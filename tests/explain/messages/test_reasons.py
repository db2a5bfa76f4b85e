"""Every reason that a default plugin gives is explained."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest

import schedviz.engine.framework.plugins
from schedviz.explain.meaning import Named
from schedviz.explain.messages.reason_values import COMPUTED
from schedviz.explain.messages.reasons import TABLE, meaning_of

_PLUGINS = Path(schedviz.engine.framework.plugins.__path__[0])
#: Reasons as they are written in the plugins: those that begin with "node(s)".
_WRITTEN = re.compile(r"\"(node\(s\)[^\"{]*)\"")


def test_every_reason_of_the_plugins_has_a_meaning() -> None:
    reasons = {reason for path in _PLUGINS.rglob("*.py") for reason in _WRITTEN.findall(path.read_text())}
    assert len(reasons) > 10
    unexplained = sorted(reason for reason in reasons if meaning_of(reason) is None and "unknown conditions" not in reason)
    assert unexplained == []


def test_the_meaning_names_the_missing_resource() -> None:
    meaning = meaning_of("Insufficient nvidia.com/gpu")
    assert meaning is not None
    assert "allocatable `nvidia.com/gpu`" in meaning.sentence


def test_the_advice_about_a_device_names_one_node_and_not_several_of_which_some_never_had_it() -> None:
    meaning = meaning_of("Insufficient nvidia.com/gpu")
    assert meaning is not None
    of_one = meaning.advice_phrase(Named(("gpu-1",)), 1)
    of_several = meaning.advice_phrase(Named(("gpu-1", "cpu-1", "cpu-2")), 3)
    assert of_one is not None
    assert of_several is not None
    assert of_one.text.startswith("run `kubectl describe node gpu-1`. If")
    assert of_several.text.startswith("run `kubectl describe node` for each node that should offer `nvidia.com/gpu`. If")


#: Reasons of kube-scheduler 1.14 to 1.36, with the plugin that gives each. The scheduler itself gives those of "".
REASONS = (
    # Resources: 1.14 counts pods as a resource.
    ("Insufficient pods", "NodeResourcesFit"),
    ("Too many pods", "NodeResourcesFit"),
    ("Insufficient cpu", "NodeResourcesFit"),
    ("Insufficient ephemeral-storage", "NodeResourcesFit"),
    ("Insufficient hugepages-2Mi", "NodeResourcesFit"),
    ("insufficient example.com/gpu", "NodeResourcesFit"),
    # Taints: 1.14 to 1.18, 1.19 to 1.23, 1.24 to 1.35, 1.36.
    ("node(s) had taints that the pod didn't tolerate", "TaintToleration"),
    ("node(s) had taint {a: b}, that the pod didn't tolerate", "TaintToleration"),
    ("node(s) had untolerated taint {a: }", "TaintToleration"),
    ("node(s) had untolerated taint(s)", "TaintToleration"),
    # The node: 1.14 to 1.17 have conditions of nodes.
    ("node(s) were unschedulable", "NodeUnschedulable"),
    ("node(s) were not ready", "NodeUnschedulable"),
    ("node(s) had unavailable network", "NodeUnschedulable"),
    ("node(s) had memory pressure", "NodeUnschedulable"),
    ("node(s) had disk pressure", "NodeUnschedulable"),
    ("node(s) had pid pressure", "NodeUnschedulable"),
    ("node(s) were out of disk space", "NodeUnschedulable"),
    ("node(s) had unknown conditions", "NodeUnschedulable"),
    ("node(s) didn't match the requested hostname", "NodeName"),
    ("node(s) didn't match the requested node name", "NodeName"),
    # Node affinity: until 1.19, 1.20 and 1.21, from 1.22 on.
    ("node(s) didn't match node selector", "NodeAffinity"),
    ("node(s) didn't match Pod's node affinity", "NodeAffinity"),
    ("node(s) didn't match Pod's node affinity/selector", "NodeAffinity"),
    ("node(s) didn't match scheduler-enforced node affinity", "NodeAffinity"),
    ("pod affinity terms conflict", "NodeAffinity"),
    ("node(s) didn't have the requested labels", "NodeAffinity"),
    ("node(s) didn't satisfy plugin(s) [NodeAffinity]", "NodeAffinity"),
    ("node(s) didn't satisfy plugin(s) [NodeAffinity VolumeBinding] simultaneously", ""),
    ("node(s) didn't match Pod's required features", "NodeDeclaredFeatures"),
    # Other pods.
    ("node(s) didn't have free ports for the requested pod ports", "NodePorts"),
    ("node(s) didn't match pod affinity/anti-affinity", "InterPodAffinity"),
    ("node(s) didn't match pod affinity/anti-affinity rules", "InterPodAffinity"),
    ("node(s) didn't match pod affinity rules", "InterPodAffinity"),
    ("node(s) didn't match pod anti-affinity rules", "InterPodAffinity"),
    ("node(s) didn't satisfy existing pods anti-affinity rules", "InterPodAffinity"),
    ("node(s) didn't match service affinity", "InterPodAffinity"),
    ("node(s) didn't match pod topology spread constraints", "PodTopologySpread"),
    ("node(s) didn't match pod topology spread constraints (missing required label)", "PodTopologySpread"),
    # Volumes.
    ("node(s) had no available disk", "VolumeRestrictions"),
    (
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
        "VolumeRestrictions",
    ),
    ("node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode", "VolumeRestrictions"),
    ("node(s) had no available volume zone", "VolumeZone"),
    ("PersistentVolumeClaim had no pv name and storageClass name", "VolumeZone"),
    ("node(s) exceed max volume count", "NodeVolumeLimits"),
    ("ebs.csi.example.com CSI driver is not installed on the node", "NodeVolumeLimits"),
    ("node(s) had volume node affinity conflict", "VolumeBinding"),
    ("node(s) didn't match PersistentVolume's node affinity", "VolumeBinding"),
    ("node(s) didn't find available persistent volumes to bind", "VolumeBinding"),
    ("node(s) did not have enough free storage", "VolumeBinding"),
    ("pvc(s) bound to non-existent pv(s)", "VolumeBinding"),
    ("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)", "VolumeBinding"),
    ('persistentvolumeclaim "a" bound to non-existent persistentvolume "b"', "VolumeBinding"),
    ("pod has unbound immediate PersistentVolumeClaims", "VolumeBinding"),
    ("pod has unbound immediate PersistentVolumeClaims (repeated 2 times)", "VolumeBinding"),
    ('persistentvolumeclaim "a" not found', "VolumeBinding"),
    ('persistentvolumeclaim "a" is being deleted', "VolumeBinding"),
    ('waiting for ephemeral volume controller to create the persistentvolumeclaim "a"', "VolumeBinding"),
    ('storageclass.storage.k8s.io "fast" not found', "VolumeBinding"),
    # Devices.
    ("cannot allocate all claims", "DynamicResources"),
    ("resourceclaim not available on the node", "DynamicResources"),
    ("resourceclaim in use", "DynamicResources"),
    ("resource claim a/b is in the process of being allocated", "DynamicResources"),
    ("request gpu: device class gpu.example.com does not exist", "DynamicResources"),
    ('could not find ResourceClaim "a"', "DynamicResources"),
    ("cannot fit resource", "DynamicResources"),
    ("cannot schedule extended resource claim", "DynamicResources"),
    ("no new claims to deallocate", "DynamicResources"),
    ("still not schedulable", "DynamicResources"),
    # Preemption.
    ("Preemption is not helpful for scheduling", "DefaultPreemption"),
    ("No preemption victims found for incoming pod", "DefaultPreemption"),
    ("No victims found on node n1 for preemptor pod p1", "DefaultPreemption"),
    ("not eligible due to preemptionPolicy=Never", "DefaultPreemption"),
    ("not eligible due to a terminating pod on the nominated node", "DefaultPreemption"),
    ("not eligible due to workload aware preemption enabled", "DefaultPreemption"),
    ("no candidate node for preemption", "DefaultPreemption"),
    ("waiting for the preemption for this pod to be finished", "DefaultPreemption"),
    # The pod as a whole.
    ("no nodes available to schedule pods", ""),
    ("waiting for scheduling gates: [a]", "SchedulingGates"),
    ("waiting for minCount pods from a gang to appear in scheduling queue", "GangScheduling"),
    ("0/2 placements are available, first placement status: no", "GangScheduling"),
    ("skip schedule deleting pod: a/b", ""),
    ("AssumePod failed: pod 1-2 is in the cache, so can't be assumed", ""),
    ('binding rejected: running Bind plugin "DefaultBinder": Operation cannot be fulfilled on pods/binding "a"', "DefaultBinder"),
    (
        'binding rejected: running Bind plugin "DefaultBinder": Operation cannot be fulfilled on pods/binding "a": etcdserver: request timed out',
        "DefaultBinder",
    ),
    ('running "VolumeBinding" filter plugin for pod "a": could not get a claim', ""),
    ("2/4 tasks in gang unschedulable: pod group is not ready, 4 minAvailable, 2 Pending.", "volcano"),
)


@pytest.mark.parametrize(("reason", "plugin"), REASONS)
def test_a_reason_of_any_release_has_its_plugin_and_says_what_to_do(reason: str, plugin: str) -> None:
    meaning = meaning_of(reason)
    assert meaning is not None
    assert meaning.plugin == plugin
    assert meaning.sentence
    assert meaning.advice


@pytest.mark.parametrize(
    "problem", ["no such overload", "no such overload: _<_", "internal error: runtime error: hash of unhashable type cel.Semver"]
)
def test_a_selector_with_a_type_error_is_distinguished_from_one_with_a_missing_attribute(problem: str) -> None:
    mixing = meaning_of(f"claim a/b: selector #0: CEL runtime error: {problem}")
    lacking = meaning_of("claim a/b: selector #0: CEL runtime error: no such key: model")

    assert mixing is not None
    assert lacking is not None
    assert "different types" in mixing.sentence
    assert "no such key: model" in lacking.sentence


@pytest.mark.parametrize(
    ("taint", "says"),
    [
        ("node.kubernetes.io/not-ready: ", "not ready"),
        ("node.kubernetes.io/unschedulable: ", "cordoned"),
        ("node-role.kubernetes.io/control-plane: ", "control plane"),
        ("ToBeDeletedByClusterAutoscaler: 17", "the cluster autoscaler is removing"),
        ("karpenter.sh/disrupted: ", "Karpenter is removing"),
        ("karpenter.sh/not-ready: ", "not ready yet"),
        ("karpenter.sh/unregistered: ", "not ready yet"),
        ("dedicated: gpu", "does not tolerate the taint `dedicated: gpu`"),
    ],
)
def test_a_taint_is_explained_in_every_wording(taint: str, says: str) -> None:
    for reason in (f"node(s) had taint {{{taint}}}, that the pod didn't tolerate", f"node(s) had untolerated taint {{{taint}}}"):
        meaning = meaning_of(reason)
        assert meaning is not None
        assert says in meaning.sentence


def test_every_template_has_its_values() -> None:
    for pattern, meaning in TABLE:
        needed = {name for _, name, _, _ in string.Formatter().parse(meaning.template) if name}
        groups = set(re.compile(pattern).groupindex)
        assert needed <= groups.union(*(COMPUTED.get(group, frozenset()) for group in groups)), pattern


@pytest.mark.parametrize(
    "piece", ['persistentvolumeclaim "', "node(s) had taint {a}", "not found ", 'running "', "fit failure on node (a): "]
)
def test_hostile_reasons_are_examined_quickly(piece: str) -> None:
    assert meaning_of(piece * 50_000) is None


def test_huge_pages_are_not_a_device() -> None:
    meaning = meaning_of("Insufficient hugepages-2Mi")

    assert meaning is not None
    assert "vm.nr_hugepages" in meaning.advice
    assert all("device" not in cause for cause in meaning.causes)


@pytest.mark.parametrize(
    ("why", "said"),
    [
        (
            "etcdserver: request timed out",
            "the API server could not save the binding because etcd failed (`etcdserver: request timed out`)",
        ),
        ("etcdserver: leader changed", "the API server could not save the binding because etcd failed (`etcdserver: leader changed`)"),
        ("context deadline exceeded", "the API server did not save the binding (`context deadline exceeded`)"),
        (
            "the object has been modified; please apply your changes to the latest version",
            "the pod was deleted, recreated, or bound by another client during its binding",
        ),
        ('pod web-0 is already assigned to node "b"', "the pod was deleted, recreated, or bound by another client during its binding"),
    ],
)
def test_a_binding_fails_for_a_conflict_or_for_the_storage_of_the_api_server(why: str, said: str) -> None:
    meaning = meaning_of(f'running Bind plugin "DefaultBinder": Operation cannot be fulfilled on pods/binding "web-0": {why}')
    assert meaning is not None
    assert meaning.sentence == said
