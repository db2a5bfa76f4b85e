"""Feature gates of a release: names, locked gates and dependencies, in upstream's words."""

from __future__ import annotations

import pytest

from schedviz.engine.features import V1_36_GATES, FeatureGateError, Features, features_of


def refusal(overrides: dict[str, bool]) -> FeatureGateError:
    with pytest.raises(FeatureGateError) as caught:
        features_of(V1_36_GATES, overrides)
    return caught.value


def test_every_feature_gate_has_a_member_and_every_dependency_is_a_gate() -> None:
    assert {gate.member for gate in V1_36_GATES.values() if gate.member} <= set(Features.__struct_fields__)
    assert {other for gate in V1_36_GATES.values() for other in gate.depends_on} <= V1_36_GATES.keys()


def test_gates_have_the_defaults_of_the_release_and_can_be_overridden() -> None:
    assert features_of(V1_36_GATES, {}).scheduler_async_preemption
    assert not features_of(V1_36_GATES, {"SchedulerAsyncPreemption": False}).scheduler_async_preemption
    assert features_of({}, {}) == Features()


def test_an_unknown_feature_gate_is_reported_with_the_known_ones() -> None:
    error = refusal({"SchedulerQueingHints": True})
    assert error.gate == "SchedulerQueingHints"
    assert str(error).startswith("unrecognized feature gate: SchedulerQueingHints; there are ClearingNominatedNodeNameAfterBinding, ")
    with pytest.raises(FeatureGateError, match="GangScheduling; the release has no feature gates here"):
        features_of({}, {"GangScheduling": True})


def test_a_locked_feature_gate_keeps_its_value() -> None:
    assert features_of(V1_36_GATES, {"SidecarContainers": True}).sidecar_containers
    message = "cannot set feature gate SidecarContainers to false, feature is locked to true"
    assert str(refusal({"SidecarContainers": False})) == message


def test_a_feature_gate_needs_the_gates_that_it_depends_on() -> None:
    message = "GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]"
    assert str(refusal({"GangScheduling": True})) == message
    assert features_of(V1_36_GATES, {"GangScheduling": True, "GenericWorkload": True}).gang_scheduling
    assert "[PodLevelResources]" in str(refusal({"PodLevelResources": False}))


def test_gates_that_kube_scheduler_does_not_read_count_as_dependents() -> None:
    assert "depends on features that are disabled: [NodeDeclaredFeatures]" in str(refusal({"NodeDeclaredFeatures": False}))
    off = dict.fromkeys(name for name, gate in V1_36_GATES.items() if "NodeDeclaredFeatures" in gate.depends_on)
    features = features_of(V1_36_GATES, {"NodeDeclaredFeatures": False, **dict.fromkeys(off, False)})

    assert len(off) == 4
    assert not features.node_declared_features
