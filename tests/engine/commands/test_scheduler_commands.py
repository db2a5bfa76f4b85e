"""The commands `permit` and `configure`, also across a checkpoint."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine import Outcome, Simulation
from schedviz.trace.events import BindingReleased, BindingStageEnded, Configured, PermitAnswered, QueueMoved, Restarted
from schedviz.trace.fold import Fold
from tests.engine import clusters

do, four_nodes, node, pod = clusters.do, clusters.four_nodes, clusters.node, clusters.pod


def scripted(*rules: dict[str, Any], **members: Any) -> dict[str, Any]:
    plugins = {"multiPoint": {"enabled": [{"name": "Scripted"}]}}
    return {"profiles": [{"plugins": plugins, "pluginConfig": [{"name": "Scripted", "args": {"rules": list(rules)}}]}], **members}


WAITS = {"point": "permit", "code": "Wait", "delaySeconds": 60}


class Session:
    """A simulation whose events are folded in parallel; it is saved and restored before each command."""

    def __init__(self, *pods: dict[str, Any], **settings: Any) -> None:
        self.simulation: Simulation = four_nodes(*pods, **settings)
        self.fold = Fold(self.simulation.view())
        self.events: list[Any] = []

    def do(self, op: str, **members: Any) -> Outcome:
        self.simulation = Simulation.restore(self.simulation.checkpoint())
        outcome: Outcome = do(self.simulation, op, **members)
        self.events = self.simulation.drain_events()
        self.fold.apply_all(self.events)
        assert self.fold.to_view() == self.simulation.view()
        return outcome

    def nodes_of(self) -> dict[str, str]:
        return {each.name: each.spec.node_name for each in self.simulation.stored_objects() if type(each).__name__ == "Pod"}

    def queued(self, name: str = "activeQ") -> list[str]:
        return [entry["pod"] for entry in self.simulation.observed_state()["queue"][name]]


def test_a_pod_that_is_allowed_is_bound() -> None:
    session = Session(pod("p"), config=scripted(WAITS))
    session.do("cycle")
    assert session.simulation.view().bindings[0].waiting_for == ["Scripted"]
    assert session.nodes_of() == {"p": ""}

    assert session.do("permit", pod="default/p", action="allow") == Outcome(event=session.simulation.event, clock_seconds=0.002001)

    assert session.nodes_of() == {"p": "node1"}
    answered = next(event for event in session.events if isinstance(event, PermitAnswered))
    assert (answered.pod, answered.action, answered.plugins, answered.waiting_for, answered.cycle) == (
        "default/p",
        "allow",
        ["Scripted"],
        [],
        1,
    )
    assert session.simulation.view().bindings == []


def test_a_pod_of_v1_36_still_waits_after_the_preflight_of_prebind() -> None:
    session = Session(pod("p"), config=scripted(WAITS), release="v1.36")
    session.do("cycle")

    (binding,) = session.fold.to_view().bindings
    assert [stage.stage for stage in binding.stages] == ["PreBindPreFlight"]
    assert binding.waiting_for == ["Scripted"]

    session.do("permit", pod="default/p", action="allow")
    assert session.nodes_of()["p"] == binding.node


def test_a_rejected_pod_goes_back_to_the_queue_with_the_message_of_its_rejection() -> None:
    session = Session(pod("p"), config=scripted(WAITS))
    session.do("cycle")

    session.do("permit", pod="default/p", action="reject", plugin="Scripted", message="the quota is used up")

    assert session.nodes_of() == {"p": ""}
    entry = session.simulation.observed_state()["queue"]["unschedulable"][0]
    assert (entry["pod"], entry["unschedulablePlugins"]) == ("default/p", [])
    failed = next(event for event in session.events if isinstance(event, BindingStageEnded) and event.stage == "HandleSchedulingFailure")
    assert "the quota is used up" in str(failed.facts)


def test_a_held_binding_can_be_allowed_before_it_runs() -> None:
    session = Session(pod("p"), config=scripted(WAITS))
    session.do("schedule")
    session.do("permit", pod="default/p", action="allow")
    assert session.nodes_of() == {"p": ""}
    session.do("bind")
    assert session.nodes_of() == {"p": "node1"}


def test_a_held_binding_that_is_run_and_waits_is_no_longer_held() -> None:
    session = Session(pod("a"), config=scripted(WAITS))
    session.do("schedule")
    assert [(binding.held, binding.waiting_for) for binding in session.simulation.view().bindings] == [(True, ["Scripted"])]

    session.do("bind")

    assert [event.pod for event in session.events if isinstance(event, BindingReleased)] == ["default/a"]
    assert [(binding.held, binding.waiting_for) for binding in session.fold.to_view().bindings] == [(False, ["Scripted"])]


def test_a_pod_that_does_not_wait_cannot_be_permitted() -> None:
    session = Session(pod("p"), config=scripted(WAITS))
    assert session.do("permit", pod="default/p", action="allow").result == "the pod default/p does not wait at Permit"
    session.do("cycle")
    outcome = session.do("permit", pod="default/p", action="allow", plugin="Coscheduling")
    assert outcome.result == "the pod default/p does not wait for Coscheduling: it waits for Scripted"
    assert session.simulation.view().bindings[0].waiting_for == ["Scripted"]


def test_another_configuration_applies_from_the_next_cycle_on() -> None:
    session = Session(*(pod(f"p{number}") for number in range(4)))
    before = session.simulation.observed_state()
    most = {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}
    config = {"profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": most}}]}]}
    session.do("cycle")
    assert session.do("configure", config=config).error == ""

    state = session.simulation.observed_state()
    assert state["cache"]["podStates"]
    assert state["queue"]["activeQ"] == before["queue"]["activeQ"][1:]
    assert session.simulation.view().config == config
    assert [event.config for event in session.events if isinstance(event, Configured)] == [config]

    session.do("run")
    packed = session.nodes_of()
    assert len({packed["p0"], packed["p1"], packed["p2"], packed["p3"]}) == 1


def test_an_invalid_configuration_changes_nothing() -> None:
    session = Session(pod("p"))
    before = session.simulation.state_hash(), session.simulation.clock_seconds
    profile = {"plugins": {"score": {"enabled": [{"name": "NodeResourcesFit", "weight": -1}]}}}

    outcome = session.do("configure", config={"profiles": [profile], "percentageOfNodesToScore": 101})

    assert outcome.error == "config: percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"
    assert session.do("configure", config={"profile": []}, restart=True).error == 'config: strict decoding error: unknown field "profile"'
    unknown = {"profiles": [{"plugins": {"filter": {"enabled": [{"name": "Tetris"}]}}}]}
    refused = session.do("configure", config=unknown)
    assert refused.error == (
        'config: initializing profiles: creating profile for scheduler name default-scheduler: FilterPlugin "Tetris" does not exist'
    )
    session.simulation.recorder.event -= 3
    assert (session.simulation.state_hash(), session.simulation.clock_seconds) == before
    assert session.simulation.view().config is None


def test_configuring_during_a_cycle_needs_a_restart() -> None:
    session = Session(pod("p"))
    session.do("step", unit="stage")
    session.do("step", unit="stage")

    refused = session.do("configure", config=None)
    assert refused.result == "the scheduling cycle of default/p is at UpdateSnapshot: let it end first (step), or configure with a restart"

    assert session.do("configure", config={"percentageOfNodesToScore": 50}, restart=True).result == ""
    assert [type(event) for event in session.events if isinstance(event, Configured | Restarted)] == [Configured, Restarted]
    assert session.queued() == ["default/p"]
    assert session.simulation.scheduler.state.percentage_of_nodes_to_score == 50


def test_configuring_during_a_binding_cycle_is_rejected() -> None:
    session = Session(pod("p"), pod("q"))
    session.do("schedule")
    refused = session.do("configure", config=None)
    assert refused.result == "the binding cycle of default/p is at WaitOnPermit: let it end first (bind), or configure with a restart"
    session.do("bind")
    assert session.do("configure", config={"profiles": [{"schedulerName": "another"}]}).result == ""
    session.do("confirm")
    assert session.nodes_of() == {"p": "node1", "q": ""}


def test_pods_of_removed_profiles_leave_the_queue_and_pods_of_new_profiles_enter() -> None:
    session = Session(pod("ours"), pod("theirs", schedulerName="batch"))
    assert session.queued() == ["default/ours"]
    session.do("configure", config={"profiles": [{"schedulerName": "batch"}]})
    assert session.queued() == ["default/theirs"]
    session.do("run")
    assert session.nodes_of() == {"ours": "", "theirs": "node1"}


def test_a_changed_backoff_reorders_backoffq() -> None:
    rules = {"point": "filter", "code": "Error", "reasons": ["not today"]}
    session = Session(*(pod(f"p{number}") for number in range(5)), config=scripted(rules))
    for number in range(4):
        session.do("create", object=pod(f"late{number}"))
        session.do("run")
        session.do("create", object=node(f"new{number}"))
        session.do("advance", seconds=0.4)
    waiting = session.queued("backoffQ")
    assert len(waiting) > 3

    session.do("configure", config=scripted(rules, podInitialBackoffSeconds=8, podMaxBackoffSeconds=8))

    assert sorted(session.queued("backoffQ")) == sorted(waiting)
    assert session.queued("backoffQ") != waiting
    moved = next(event for event in session.events if isinstance(event, QueueMoved))
    assert moved.cause == "Configure"
    entries = session.simulation.observed_state()["queue"]["backoffQ"]
    assert {round(entry["backoffExpirySeconds"] - entry["timestampSeconds"], 6) for entry in entries} == {8.0}


def test_a_plugin_keeps_its_state_only_if_its_arguments_are_unchanged() -> None:
    once = {"point": "filter", "code": "Unschedulable", "reasons": ["once"], "times": 1}
    nowhere = {"point": "filter", "code": "Unschedulable", "reasons": ["once"], "times": 1, "nodes": ["node1"]}
    session = Session(*(pod(f"p{number}") for number in range(3)), config=scripted(once))
    session.do("cycle")
    assert session.simulation.last_cycle is None
    session.do("configure", config=scripted(once, percentageOfNodesToScore=100))
    session.do("cycle")
    cycle = session.simulation.view().cycle
    assert cycle is not None
    assert cycle.feasible_nodes == 4
    session.do("configure", config=scripted(nowhere))
    session.do("cycle")
    cycle = session.simulation.view().cycle
    assert cycle is not None
    assert cycle.feasible_nodes == 3


def test_a_reset_goes_back_to_the_first_configuration() -> None:
    session = Session(pod("p"))
    session.do("configure", config={"percentageOfNodesToScore": 50})
    session.do("reset")
    assert session.simulation.view().config is None
    assert session.simulation.scheduler.state.percentage_of_nodes_to_score == 0


@pytest.mark.parametrize("restart", [False, True])
def test_a_scheduler_that_exited_needs_a_restart(*, restart: bool) -> None:
    session = Session(pod("p"), config=scripted())
    session.simulation.exited = "NodeInfo not found"
    session.fold = Fold(session.simulation.view())
    outcome = session.do("configure", config=None, restart=restart)
    assert bool(outcome.result) is not restart
    assert session.simulation.exited == ("" if restart else "NodeInfo not found")
