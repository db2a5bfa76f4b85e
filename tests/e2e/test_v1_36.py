"""What only v1.36 has, on the page: hints asked and answered, pods in flight, preemptions beside the cycles, batching."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Server
from tests.e2e.test_session_page import show_internals
from tests.trace.stories import create, node, pod

pytestmark = pytest.mark.browser

PATIENCE_MILLIS = 60_000
FOR_EQUAL_PODS = {"profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": {"defaultingType": "List"}}]}]}


def session_of(server: Server, *commands: dict[str, Any], **header: Any) -> str:
    """A session of v1.36 in which these commands ran."""
    trace = {"format": "schedviz-trace/1", "release": "v1.36", "steps": [], **header}
    made = server.rest("sessions/", {"name": "v1.36", "trace": trace}, wait=20)
    server.rest(f"sessions/{made['id']}/commands/together/", {"commands": list(commands)}, wait=20)
    return str(made["id"])


def open_session(page: Page, server: Server, session: str) -> None:
    page.goto(f"{server.url}/s/{session}/")
    page.locator("[data-queue=activeQ]").wait_for(timeout=PATIENCE_MILLIS)


def test_moves_show_which_hint_woke_a_pod_and_which_left_it(page: Page, server: Server):
    session = session_of(
        server,
        create(node("node1", cpu="1")),
        create(pod("small", cpu="2")),
        create(pod("large", cpu="9")),
        {"op": "run"},
        create(node("node2", cpu="2")),
    )
    open_session(page, server, session)
    show_internals(page)

    left = page.locator("[data-cause=NodeAdd][data-stays]")
    expect(left).to_contain_text("large")
    expect(left.locator("[data-hint-answer=QueueSkip]")).to_have_text("NodeResourcesFit: QueueSkip")
    moved = page.locator("[data-cause=NodeAdd]:not([data-stays])").first
    expect(moved).to_contain_text("small")
    moved.get_by_role("button", name="NodeResourcesFit: Queue").click()
    explained = page.get_by_role("dialog").locator("[data-requeue]")
    expect(explained).to_contain_text("node2")
    expect(explained).to_contain_text("The pods go to backoffQ: they must wait for their backoff.")
    expect(explained).to_contain_text("Queue if the pod's requests fit")


def test_a_click_ends_a_backoff_that_has_expired_but_not_ended(page: Page, server: Server):
    session = session_of(
        server,
        create(node("node1")),
        create(pod("p")),
        {"op": "schedule"},
        {"op": "bind_fail", "pod": "default/p"},
        {"op": "advance", "seconds": 1},
    )
    open_session(page, server, session)
    expect(page.locator("[data-queue=errorBackoffQ] [data-pod='default/p']")).to_be_visible()

    page.locator("[data-ending-backoff]").click()

    expect(page.locator("[data-queue=errorBackoffQ] [data-pod]")).to_have_count(0, timeout=PATIENCE_MILLIS)


def test_an_assumed_pod_has_neither_a_written_binding_nor_a_deadline(page: Page, server: Server):
    commands = [{"op": "latency", "kind": "Pod", "seconds": 5}, create(node("node1")), create(pod("p")), {"op": "advance", "seconds": 5}]
    session = session_of(server, *commands, {"op": "cycle"}, featureGates={"SchedulerPopFromBackoffQ": False})

    open_session(page, server, session)
    page.locator("[data-cycle] [data-kind=pod]").first.click()
    summary = page.locator(".drawer")
    expect(summary).to_contain_text("Assumed on", timeout=PATIENCE_MILLIS)
    expect(summary).to_contain_text("next: Confirm")
    expect(summary).not_to_contain_text("binding written")
    # Without the gate and without errors, too.
    expect(page.locator("[data-queue='in-flight pods and events']")).to_be_attached()


def test_the_matrix_ends_with_the_answers_before_binding_and_what_followed_the_cycle(page: Page, server: Server):
    session = session_of(
        server,
        create(node("node1", cpu="1")),
        create(pod("small", cpu="1")),
        create(pod("large", cpu="2")),
        {"op": "run"},
        create(node("node2", cpu="2")),
    )
    open_session(page, server, session)
    page.get_by_role("radio", name="matrix").click()

    after = page.locator("[data-after]")
    expect(after.locator("[data-after-row=apiCalls]")).to_contain_text("condition PodScheduled=False", timeout=PATIENCE_MILLIS)
    expect(after.locator("[data-after-row=hints]")).to_contain_text("the queueing hint of NodeResourcesFit for NodeAdd returned Queue")

    page.goto(f"{server.url}/s/{session}/?cycle=1")
    page.locator("[data-queue=activeQ]").wait_for(timeout=PATIENCE_MILLIS)
    page.get_by_role("radio", name="matrix").click()
    expect(page.locator("[data-after-row=preBind]")).to_contain_text("VolumeBinding", timeout=PATIENCE_MILLIS)


def test_the_search_finds_answers_of_hints_and_events_in_flight(page: Page, server: Server):
    session = session_of(
        server,
        create(node("node1", cpu="1")),
        create(pod("web", cpu="2")),
        {"op": "run"},
        create(node("node2", cpu="2")),
        {"op": "step", "unit": "stage", "count": 3},
        create(node("node3", cpu="2")),
    )
    open_session(page, server, session)

    page.keyboard.press("Control+k")
    search = page.get_by_role("combobox", name="Search")
    search.fill("noderesourcesfit queue")
    answer = page.locator("[data-entry^='answer/']")
    expect(answer).to_have_text(re.compile("NodeResourcesFit returns Queue for web"), timeout=PATIENCE_MILLIS)
    search.fill("node3")
    expect(page.locator("[data-entry^='event/']")).to_contain_text("NodeAdd Node node3")
    search.fill("noderesourcesfit queue")
    answer.click()
    expect(page.locator(".drawer")).to_contain_text("web")


def test_a_pod_in_flight_is_drawn_with_the_events_since_and_an_early_pop_is_marked(page: Page, server: Server):
    session = session_of(
        server,
        create(node("node1", cpu="1")),
        create(pod("web", cpu="2")),
        {"op": "run"},
        create(node("node2", cpu="2")),
        {"op": "step", "unit": "stage", "count": 3},
        create(node("node3", cpu="2")),
    )
    open_session(page, server, session)

    expect(page.locator("[data-popped-early]")).to_have_text("popped from backoffQ")
    expect(page.locator("[data-in-flight-entry]")).to_have_text(["web", "NodeAdd Node node3"])


def test_a_held_preemption_is_a_strip_with_its_victims_and_pending_api_calls(page: Page, server: Server):
    low = [create(pod(f"low-{number}", cpu="2", nodeName="node1", priority=number)) for number in (1, 2)]
    session = session_of(
        server,
        create(node("node1", cpu="4")),
        *low,
        create(pod("high", cpu="4", priority=9)),
        {"op": "cycle"},
        holdPreemption=True,
        holdDispatch=True,
        featureGates={"SchedulerAsyncAPICalls": True},
    )
    open_session(page, server, session)

    strip = page.locator("[data-preemption='default/high']")
    expect(strip.locator("[data-victim]")).to_have_text(["low-2", "low-1"])
    expect(strip.locator("[data-victim=next]")).to_have_text("low-2")
    expect(page.locator("[data-api-calls='1']")).to_contain_text("nominate to node1")
    server.rest(f"sessions/{session}/commands/", {"op": "preempt"}, wait=20)
    expect(strip).to_have_count(0)


def test_a_cycle_that_reuses_nodes_says_from_which_cycle(page: Page, server: Server):
    nodes = [create(node(f"node{number}", cpu="2")) for number in (1, 2, 3)]
    pods = [create(pod(f"job-{number}", cpu="2")) for number in (1, 2)]
    session = session_of(server, {"op": "configure", "config": FOR_EQUAL_PODS}, *nodes, *pods, {"op": "cycle"}, {"op": "cycle"})
    open_session(page, server, session)

    expect(page.locator("[data-stage=PreFilter] [data-batch=hint]")).to_contain_text("batching: next in the ranking of cycle 1")
    expect(page.locator("[data-stage=NominatedNode] [data-batch=first]")).to_be_visible()
    expect(page.get_by_text("No other node was evaluated: opportunistic batching suggested")).to_be_visible()


def test_both_releases_run_from_one_moment_and_are_compared(page: Page, server: Server):
    requests = {"requests": {"cpu": "450m"}}
    side = pod("side", cpu="100m")
    side["spec"]["initContainers"] = [{"name": "proxy", "image": "proxy:1", "restartPolicy": "Always", "resources": requests}]
    session = session_of(server, create(node("node1", cpu="1")), create(pod("first", cpu="500m")), create(side))
    open_session(page, server, session)

    page.keyboard.press("Shift+D")
    page.wait_for_url("**/compare/?a=*&b=*", timeout=PATIENCE_MILLIS)
    query = parse_qs(urlsplit(page.url).query)
    forks = [server.rest(f"sessions/{query[side][0]}/") for side in ("a", "b")]
    assert [fork["release"] for fork in forks] == ["v1.36", "v1.27.1"]
    # v1.27.1 takes the larger of sidecar and container, v1.36 their sum.
    assert [len(server.rest(f"sessions/{fork['id']}/state/")["queue"]["unschedulable"]) for fork in forks] == [1, 0]


def test_both_releases_try_the_pods_that_are_pending_at_the_end_of_a_run(page: Page, server: Server):
    session = session_of(server, create(node("node1", cpu="1")), create(pod("large", cpu="8")), {"op": "run"})
    open_session(page, server, session)

    page.keyboard.press("Shift+D")
    page.wait_for_url("**/compare/?a=*&b=*", timeout=PATIENCE_MILLIS)
    query = parse_qs(urlsplit(page.url).query)
    for side in ("a", "b"):
        queued = server.rest(f"sessions/{query[side][0]}/state/")["queue"]["unschedulable"]
        assert [(one["pod"], one["attempts"]) for one in queued] == [("default/large", 1)]
