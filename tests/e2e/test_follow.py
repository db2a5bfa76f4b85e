"""A session that follows a cluster: the page names the cluster, shows the agreement rate, and links to disagreements."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import until
from tests.e2e.cluster import node, pod
from tests.e2e.conftest import Server
from tests.e2e.test_session_page import PATIENCE_MILLIS

pytestmark = pytest.mark.browser


@pytest.fixture
def followed(server: Server) -> str:
    """Three pods were seen to wait and then to be bound: one to the best node, one to another, one to where it does not fit."""
    session = str(
        server.rest("sessions/", {"name": "kind-dev", "trace": {"format": "schedviz-trace/1", "name": "kind-dev", "steps": []}})["id"]
    )
    until(lambda: server.rest(f"sessions/{session}/")["status"] == "ready")
    rejected = {
        **pod("rejected", "100"),
        "status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]},
    }
    waiting = [pod("agrees", "1"), pod("elsewhere", "1"), pod("giant", "3")]
    took = dict(zip(("agrees", "elsewhere", "giant"), ("large", "small", "small"), strict=True))
    nodes = [node("large", "zone-1", "16"), node("small", "zone-2", "2")]
    push(server, session, 1, [seen("ADDED", one) for one in (*nodes, rejected, *waiting)])
    push(
        server,
        session,
        2,
        [seen("MODIFIED", {**one, "spec": {**one["spec"], "nodeName": took[one["metadata"]["name"]]}}) for one in waiting],
    )
    until(lambda: server.rest(f"sessions/{session}/agreement/")["all"]["infeasible"] == 1)
    return session


def seen(type_: str, obj: dict[str, Any]) -> dict[str, Any]:
    return {"type": type_, "version": "1", "object": {**obj, "metadata": {**obj["metadata"], "uid": obj["metadata"]["name"]}}}


def push(server: Server, session: str, n: int, events: list[dict[str, Any]]) -> None:
    server.rest(f"sessions/{session}/observations/", {"source": "kind-dev", "n": n, "events": events})


def test_a_disagreement_is_listed_with_its_reason_and_links_to_its_moment(page: Page, server: Server, followed: str) -> None:
    page.goto(f"{server.url}/s/{followed}/")
    banner = page.locator("[data-follows='kind-dev']")
    expect(banner).to_contain_text("Following the cluster “kind-dev”", timeout=PATIENCE_MILLIS)
    banner.locator("[data-open-agreement]").click()

    panel = page.locator("[data-agreement]")
    expect(panel.locator("[data-rate]")).to_contain_text("33.3% of bindings agree (1 of 3)", timeout=PATIENCE_MILLIS)
    expect(panel.locator("[data-verdict]")).to_have_count(2)
    expect(panel.locator("[data-pod='default/giant']")).to_contain_text("NodeResourcesFit rejects that node: Insufficient cpu")
    expect(panel.locator("[data-pod='default/elsewhere']")).to_contain_text("NodeResourcesFit −")
    expect(panel.locator("[data-pod='default/giant'] [data-cause]")).to_contain_text("chosen without NodeResourcesFit")
    expect(panel.locator("[data-over-time]")).to_contain_text("The newest 3 bindings")
    expect(panel.locator("[data-place=unschedulable]")).to_contain_text("rejected")
    panel.locator("[data-verdict-count=agrees]").click()
    expect(panel.locator("[data-verdict]")).to_have_count(1)
    panel.locator("[data-verdict-count=infeasible]").click()

    panel.locator("[data-pod='default/giant'] [data-look]").click()

    why = page.locator("[data-why='pending']")
    why.wait_for(timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-why-sentence]")).to_contain_text("giant")
    expect(panel).to_have_count(0)


def test_the_queue_of_the_cluster_is_drawn_as_inferred_above_the_simulated_one(page: Page, server: Server, followed: str) -> None:
    page.goto(f"{server.url}/s/{followed}/")

    inferred = page.locator("[data-cluster-queue='1']")
    expect(inferred).to_contain_text("inferred", timeout=PATIENCE_MILLIS)
    expect(inferred.locator("[data-cluster-place=unschedulable]")).to_contain_text("rejected")
    expect(page.locator("[data-queue=activeQ]")).to_contain_text("rejected")


def test_a_fork_of_a_followed_session_shows_that_it_is_detached(page: Page, server: Server, followed: str) -> None:
    fork = server.rest(f"sessions/{followed}/branches/", {})
    assert fork["follows"] == {"source": "kind-dev", "detached": True}
    until(lambda: server.rest(f"sessions/{fork['id']}/")["status"] == "ready")

    page.goto(f"{server.url}/s/{fork['id']}/")

    expect(page.locator("[data-detached='kind-dev']")).to_contain_text("Detached from the cluster", timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-cluster-queue]")).to_have_count(0)
