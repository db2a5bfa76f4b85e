"""Events applied to a view: cycles, bindings, the API server. The engine's property tests cover cache and queue."""

from schedviz.trace import events as e
from schedviz.trace.fold import Fold
from schedviz.trace.view import ApiCallView, CacheView, NodeItem, PodState, QueuedPod, Resources, SnapshotView, StatusView, View


def folded(*events: e.AnyEvent, view: View | None = None) -> View:
    """Events folded over a view, after encoding and decoding."""
    fold = Fold(view or View())
    fold.apply_all(e.decode_events(e.encode_events(list(events))))
    return fold.to_view()


def test_number_and_time_come_from_the_last_event() -> None:
    view = folded(e.ClockAdvanced(event=1, at=1.5), e.CommandDone(event=2, at=2.5))

    assert (view.event, view.clock_seconds) == (2, 2.5)


def test_a_cycle_is_folded_stage_by_stage() -> None:
    started = e.CycleStarted(event=1, at=3.0, cycle=7, pod="default/p", profile="default-scheduler", attempts=2, all_nodes=4)
    stage = e.StageEnded(
        event=2, at=3.0, cycle=7, stage="PreFilter", next_stage="Filter", statuses=[StatusView(plugin="NodeAffinity", code="Skip")]
    )
    ended = e.CycleEnded(event=3, at=3.0, cycle=7, outcome="scheduled", node="n1", feasible_nodes=3, next_start_node_index=2)

    running = folded(started, stage).cycle
    assert running is not None
    assert (running.cycle, running.at_seconds, running.next_stage) == (7, 3.0, "Filter")
    assert [(stage.stage, stage.statuses[0].code) for stage in running.stages] == [("PreFilter", "Skip")]

    view = folded(started, stage, ended)
    assert view.cycle is not None
    assert (view.cycle.outcome, view.cycle.node, view.cycle.next_stage, view.cycle.all_nodes) == ("scheduled", "n1", "", 4)
    assert view.next_start_node_index == 2


def test_a_binding_is_held_until_its_first_stage_and_removed_when_confirmed() -> None:
    started = e.BindingStarted(event=1, at=0.0, cycle=1, pod="default/p", node="n1", held=True, next_stage="WaitOnPermit")
    other = e.BindingStarted(event=2, at=0.0, cycle=2, pod="default/p", node="n2", next_stage="WaitOnPermit")
    stage = e.BindingStageEnded(event=3, at=0.0, cycle=1, pod="default/p", stage="WaitOnPermit", next_stage="PreBind")
    ended = e.BindingEnded(event=4, at=0.0, cycle=1, pod="default/p", node="n1", outcome="confirmed")

    assert [binding.held for binding in folded(started, other).bindings] == [True, False]

    released = e.BindingReleased(event=3, at=0.0, cycle=1, pod="default/p")
    assert [binding.held for binding in folded(started, released).bindings] == [False]

    first, second = folded(started, other, stage).bindings
    assert (first.held, first.next_stage, second.next_stage) == (False, "PreBind", "WaitOnPermit")

    assert [binding.node for binding in folded(started, other, stage, ended).bindings] == ["n2"]


def test_objects_watches_and_latencies_are_folded() -> None:
    view = folded(
        e.ApiWritten(event=1, at=0.0, verb="create", resource="pods", kind="Pod", key="default/p", count=3),
        e.ApiWritten(event=2, at=0.0, verb="create", resource="pods", kind="Pod", key="default/q", error="exists", count=0),
        e.LatencySet(event=3, at=0.0, kind="Pod", seconds=2.0),
        e.WatchSent(event=4, at=0.0, id=1, verb="ADDED", resource="pods", key="default/p", due_seconds=2.0),
        e.WatchSent(event=5, at=0.0, id=2, verb="MODIFIED", resource="pods", key="default/p", due_seconds=3.0),
        e.WatchDelivered(event=6, at=2.0, id=1, verb="ADDED", resource="pods", key="default/p"),
    )

    assert view.api.objects == {"Pod": 3}
    assert view.api.latencies == {"Pod": 2.0}
    assert [watch.id for watch in view.api.in_flight] == [2]


def test_watch_events_are_in_the_order_in_which_they_arrive() -> None:
    view = folded(
        e.WatchSent(event=1, at=0.0, id=1, verb="ADDED", resource="pods", key="default/p", due_seconds=3.0),
        e.WatchSent(event=2, at=0.0, id=3, verb="ADDED", resource="services", key="default/s", due_seconds=2.0),
        e.WatchSent(event=3, at=0.0, id=2, verb="ADDED", resource="nodes", key="n1", due_seconds=2.0),
    )

    assert [watch.id for watch in view.api.in_flight] == [2, 3, 1]


def test_kinds_without_objects_and_zero_latencies_are_removed() -> None:
    view = folded(
        e.ApiWritten(event=1, at=0.0, verb="create", resource="nodes", kind="Node", key="n1", count=1),
        e.ApiWritten(event=2, at=0.0, verb="delete", resource="nodes", kind="Node", key="n1", count=0),
        e.LatencySet(event=3, at=0.0, kind="Pod", seconds=2.0),
        e.LatencySet(event=4, at=0.0, kind="Pod"),
    )

    assert (view.api.objects, view.api.latencies) == ({}, {})


def test_a_restart_leaves_the_api_server_unchanged() -> None:
    before = View(
        cache=CacheView(list=[NodeItem(name="n1")]),
        snapshot=SnapshotView(generation=5),
        next_start_node_index=3,
    )
    view = folded(
        e.ApiWritten(event=1, at=0.0, verb="create", resource="nodes", kind="Node", key="n1", count=1),
        e.Restarted(event=2, at=1.0, reason="scheduler cache is corrupted"),
        view=before,
    )

    assert view == View(event=2, clock_seconds=1.0, api=view.api)
    assert view.api.objects == {"Node": 1}


def test_the_snapshot_changes_only_with_an_update() -> None:
    """A NodeInfo that changes in the cache stays unchanged in the snapshot until the next update."""
    view = folded(
        e.CacheNode(event=1, at=0.0, op="add", node="n1", nodes=[e.NodeChange(node="n1", generation=2, has_node=True)]),
        e.SnapshotUpdated(event=2, at=0.0, generation=2, visited=["n1"], cloned=["n1"], node_info_list=["n1"]),
        e.CachePod(
            event=3,
            at=0.0,
            op="assume",
            pod="default/p",
            uid="u",
            nodes=[
                e.NodeChange(node="n1", generation=3, added=[e.PodOnNode(pod="default/p", affinity=True)], requested=Resources(milli_cpu=5))
            ],
            state=PodState(pod="default/p", node="n1", assumed=True),
        ),
    )

    assert view.snapshot.node_generations == {"n1": 2}
    assert view.snapshot.stale["n1"].pod_order == []
    assert view.cache.list[0].pod_order == view.cache.list[0].pods_with_affinity == ["default/p"]
    assert view.cache.assumed_pods == ["u"]

    after = folded(e.SnapshotUpdated(event=4, at=0.0, generation=3, visited=["n1"], cloned=["n1"]), view=view)
    assert after.snapshot.stale == {}
    assert after.snapshot.node_generations == {"n1": 3}


def test_a_fold_does_not_modify_given_or_returned_views() -> None:
    entry = QueuedPod(pod="default/p")
    view = View()
    fold = Fold(view)
    fold.apply(e.QueueMoved(event=1, at=0.0, cause="PodAdd", moves=[e.QueueMove(pod="default/p", target="activeQ", entry=entry)]))
    first = fold.to_view()
    fold.apply(e.QueueMoved(event=2, at=0.0, cause="Pop", moves=[e.QueueMove(pod="default/p", source="activeQ", popped=True)]))

    assert view == View()
    assert first.queue.active_q == [entry]
    assert fold.to_view().queue.active_q == []


def test_an_asynchronous_preemption_is_folded_until_its_last_stage() -> None:
    started = e.PreemptionStarted(
        event=1,
        at=0.0,
        cycle=3,
        preemptor="default/p",
        pods=["default/p"],
        node="n1",
        victims=["default/v1", "default/v2"],
        plugin="DefaultPreemption",
        next_stage="ClearNominations",
    )
    evicted = e.PreemptionStageEnded(
        event=2,
        at=0.0,
        cycle=3,
        preemptor="default/p",
        node="n1",
        stage="EvictVictims",
        next_stage="EvictLastVictim",
        victim="default/v1",
        evicted=1,
    )
    of_another_cycle = e.PreemptionStageEnded(event=3, at=0.0, cycle=9, preemptor="default/p", node="n1", stage="EvictLastVictim")
    ended = e.PreemptionStageEnded(
        event=4, at=0.0, cycle=3, preemptor="default/p", node="n1", stage="EvictLastVictim", victim="default/v2", evicted=2
    )

    (preemption,) = folded(started, evicted, of_another_cycle).preemptions
    assert (preemption.evicted, preemption.next_stage, preemption.victims) == (1, "EvictLastVictim", ["default/v1", "default/v2"])
    assert folded(started, evicted, ended).preemptions == []
    assert folded(started, e.Restarted(event=5, at=0.0)).preemptions == []


def test_a_pending_api_call_keeps_its_place_until_it_is_made() -> None:
    patch = ApiCallView(pod="default/a", uid="a", type="pod_status_patch", reason="Unschedulable")
    other = ApiCallView(pod="default/b", uid="b", type="pod_status_patch")
    binding = ApiCallView(pod="default/a", uid="a", type="pod_binding", node="n1")
    pending = [
        e.ApiCallChanged(event=number, at=0.0, pod=call.pod, uid=call.uid, outcome="pending", call=call)
        for number, call in enumerate((patch, other, binding), start=1)
    ]
    made = e.ApiCallChanged(event=4, at=0.0, pod="default/a", uid="a", outcome="made")

    assert folded(*pending).api_calls == [binding, other]
    assert folded(*pending, made).api_calls == [other]
