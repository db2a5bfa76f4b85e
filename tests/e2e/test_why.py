"""Why a pod is Pending and what would place it: explained on the page, and tried on a fork."""

from __future__ import annotations

import json
import re
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import until
from tests.e2e.cluster import dump, pod
from tests.e2e.conftest import Server
from tests.e2e.test_session_page import PATIENCE_MILLIS, import_through, step_cycles

pytestmark = pytest.mark.browser


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Five nodes, a pod that fits nowhere, and another one that looks the same to the scheduler."""
    cluster = dump(pods=2)
    cluster["items"].append(pod("giant-too", "64"))
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps(cluster))
    return file


def ask_why(page: Page, server: Server, session: str, name: str) -> None:
    page.goto(f"{server.url}/s/{session}/?select=pod:default/{name}&tab=why")
    page.locator("[data-why-sentence]").wait_for(timeout=PATIENCE_MILLIS)


def test_an_import_opens_on_the_reasons_of_its_pending_pods(page: Page, server: Server, file: Path) -> None:
    page.goto(f"{server.url}/sessions/")
    page.set_input_files("[data-upload]", file)
    overview = page.locator("[data-overview]")
    expect(overview).to_have_text("4 pods are pending, for 2 reasons", timeout=PATIENCE_MILLIS)
    reasons = page.locator("li[data-reason]")
    expect(reasons.first.locator("h3")).to_contain_text("the pod requests 64 CPU, but the largest node has only ")
    expect(reasons.first.locator("[data-quoted]")).to_have_text("kube-scheduler: Insufficient cpu")
    expect(reasons.first).to_contain_text("not even an empty node is large enough", timeout=PATIENCE_MILLIS)
    expect(reasons.last.locator("h3")).to_have_text("not tried yet: they fit on nodes now 2 pods")

    reasons.first.get_by_role("button", name="Why?").click()
    expect(page.locator("[data-why-main]")).to_contain_text("the pod requests 64 CPU", timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-detail=resource] [role=img]")).to_have_count(5)
    assert "show=" not in page.url
    expect(overview).to_have_count(0)


def test_a_message_of_the_real_scheduler_is_shown_beside_the_computed_reasons(page: Page, server: Server, tmp_path: Path) -> None:
    cluster = dump(pods=0)
    message = "0/9 nodes are available: 9 Insufficient cpu."
    refused = pod("refused", "64")
    refused["status"] = {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}]}
    cluster["items"].append(refused)
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps(cluster))
    session = import_through(page, server, file)

    ask_why(page, server, session, "refused")
    expect(page.locator("[data-why-disagreement]")).to_contain_text(message, timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-why-disagreement]")).to_contain_text("The simulation differs: the files contain only 5 nodes")


def test_an_import_is_explained_and_fixed(page: Page, server: Server, file: Path) -> None:
    session = import_through(page, server, file)
    step_cycles(page, 4)  # On the fork no pod is ahead of it then.
    page.locator('[data-queue=unschedulablePods] [data-pod="default/giant"] [data-kind=pod]').click()
    page.locator("[data-tab=why]").click()

    sentence = page.locator("[data-why-sentence]")
    expect(sentence).to_contain_text("the pod requests 64 CPU, but the largest node has only ", timeout=PATIENCE_MILLIS)
    expect(sentence).not_to_contain_text("None of the")
    outlooks = {one.get_attribute("data-outlook"): one.get_attribute("data-nodes") for one in page.locator("[data-outlook]").all()}
    assert outlooks == {"never": "5"}
    expect(page.locator("[data-why-message]")).to_have_text(
        "0/5 nodes are available: 5 Insufficient cpu. preemption: 0/5 nodes are available: 5 No preemption victims found for incoming pod."
    )
    expect(page.locator("[data-why] .alike")).to_contain_text("giant-too")
    page.locator("[data-why-message] [data-clause]").click()
    expect(page.locator("[data-found]")).to_have_attribute("data-found", "5")

    # In a small cluster the search begins by itself.
    suggestion = page.locator("[data-suggestion='0']")
    expect(suggestion).to_contain_text("of container main from 64 to ", timeout=PATIENCE_MILLIS)
    suggestion.locator("[data-try-change]").click()
    outcome = suggestion.locator("[data-trial-outcome]")
    expect(outcome).to_have_attribute("data-trial-outcome", "scheduled", timeout=PATIENCE_MILLIS)
    placed = outcome.get_attribute("data-trial-node")
    assert server.rest(f"sessions/{session}/explain/default/giant/")["standing"] == "pending", "The session itself is as it was."

    suggestion.locator("[data-open-fork]").click()
    page.wait_for_url(lambda url: session not in url, timeout=PATIENCE_MILLIS)
    expect(page.get_by_role("complementary", name="Summary of default/giant")).to_contain_text(placed or "?", timeout=PATIENCE_MILLIS)
    fork = page.url.split("/s/")[1].split("/")[0]
    until(lambda: server.rest(f"sessions/{fork}/explain/default/giant/")["node"] == placed)
    assert server.rest(f"sessions/{fork}/")["forkedFrom"]["id"] == session


def test_an_explanation_and_the_overview_are_shared_as_cards(page: Page, server: Server, file: Path, tmp_path: Path) -> None:
    session = import_through(page, server, file)
    page.goto(f"{server.url}/s/{session}/?show=overview")
    page.locator("[data-share-card]").click(timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-card]")).to_be_visible(timeout=PATIENCE_MILLIS)
    with page.expect_download() as png:
        page.locator("[data-card-png]").click()
    assert png.value.suggested_filename == "pending-pods.png"
    assert png.value.path().read_bytes()[:4] == b"\x89PNG"

    pod = server.rest(f"sessions/{session}/overview/")["reasons"][0]["groups"][0]["pods"][0]
    page.goto(f"{server.url}/s/{session}/?select=pod:{pod}&tab=why")
    page.locator("[data-share-card]").click(timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-card]")).to_be_visible(timeout=PATIENCE_MILLIS)
    with page.expect_download() as html:
        page.locator("[data-card-html]").click()
    assert html.value.suggested_filename == f"{pod.replace('/', '-')}.html"
    html.value.save_as(tmp_path / "card.html")
    with page.context.new_page() as alone:
        alone.goto(f"file://{tmp_path / 'card.html'}")
        expect(alone.locator("h1")).to_contain_text(pod)
        expect(alone.locator("main")).to_contain_text("Changes that make the pod schedulable")


def test_a_pod_that_stays_nominated_is_explained_and_fixed_with_a_preempt_verb(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/cases/")
    page.locator("details:has([data-case='nominated-for-ever']) > summary").click(timeout=PATIENCE_MILLIS)
    page.locator("[data-case='nominated-for-ever'] button").click()
    page.wait_for_url("**/s/*/", timeout=PATIENCE_MILLIS)
    session = page.url.rstrip("/").rsplit("/", 1)[-1]
    until(lambda: server.rest(f"sessions/{session}/")["status"] == "ready")
    page.goto(f"{server.url}/s/{session}/?select=pod:test-ns/test-pod-hgfmk&tab=why")

    element = page.locator("[data-for-ever='132.10.134.193']")
    expect(element).to_contain_text("has a filterVerb but no preemptVerb", timeout=PATIENCE_MILLIS)
    expect(element).to_contain_text("mplement and configure a preemptVerb for the extender")
    expect(page.locator("[data-why-message]")).to_contain_text("7 node is not in the subnet of the pod's fixed IP")

    page.locator("[data-change-ask]").click()
    first = page.locator("[data-suggestion='0']")
    expect(first).to_contain_text(
        "configure a preemptVerb for the extender http://sheduler-extender.fake", timeout=PATIENCE_MILLIS, ignore_case=True
    )
    expect(first.locator("[data-effect]")).to_have_attribute("data-effect", "endsNomination")
    first.locator("[data-try-change]").click()
    expect(first.locator("[data-trial-outcome]")).to_have_attribute("data-trial-outcome", "unschedulable", timeout=PATIENCE_MILLIS)
    first.locator("[data-open-fork]").click()
    page.wait_for_url(lambda url: session not in url, timeout=PATIENCE_MILLIS)

    fork = page.url.split("/s/")[1].split("/")[0]
    mended = server.rest(f"sessions/{fork}/explain/test-ns/test-pod-hgfmk/")
    assert (mended["standing"], mended["forEver"]) == ("pending", False)
    assert server.rest(f"sessions/{session}/explain/test-ns/test-pod-hgfmk/")["forEver"], "The session itself is as it was."


def test_a_pasted_message_is_explained(page: Page, server: Server, file: Path) -> None:
    session = import_through(page, server, file)
    ask_why(page, server, session, "giant")

    page.locator("[data-paste] summary").click()
    page.locator("#pasted").fill(
        "Warning  FailedScheduling  2m  default-scheduler  0/7 nodes are available: 5 Insufficient cpu, 2 node(s) were unschedulable."
    )
    page.locator("[data-read-message]").click()

    read = page.locator("[data-read='2']")
    read.wait_for(timeout=PATIENCE_MILLIS)
    expect(read).to_contain_text("The message is about 7 nodes; this session has 5 nodes.")
    expect(read.locator("[data-reason='Insufficient cpu'] [data-keep]")).to_have_attribute("data-keep", "5")
    expect(read.locator("[data-reason='node(s) were unschedulable'] [data-keep]")).to_have_count(0)

    page.locator("#pasted").fill("it does not work")
    page.locator("[data-read-message]").click()
    expect(page.get_by_role("complementary").get_by_role("alert")).to_contain_text("0/N nodes are available", timeout=PATIENCE_MILLIS)


def test_trying_copies_does_not_change_the_session(page: Page, server: Server, file: Path) -> None:
    session = import_through(page, server, file)
    ask_why(page, server, session, "web-1")
    before = server.rest(f"sessions/{session}/")["event"]

    page.locator("#copies").fill("200")
    page.locator("[data-what-if]").click()

    element = page.locator("[data-copies='200']")
    element.wait_for(timeout=PATIENCE_MILLIS)
    placed = int(element.get_attribute("data-placed") or 0)
    assert 0 < placed < 200
    expect(element).to_contain_text("Insufficient cpu")
    assert server.rest(f"sessions/{session}/")["event"] == before


def test_why_follows_the_shown_moment(page: Page, server: Server, file: Path) -> None:
    session = import_through(page, server, file)
    step_cycles(page, 2)
    ask_why(page, server, session, "web-1")
    expect(page.locator("[data-why]")).to_have_attribute("data-why", "scheduled", timeout=PATIENCE_MILLIS)

    page.keyboard.press("Home")

    expect(page.locator("[data-why]")).to_have_attribute("data-why", "pending", timeout=PATIENCE_MILLIS)


def test_an_object_is_shown_as_yaml_at_the_current_moment(page: Page, server: Server, file: Path) -> None:
    session = import_through(page, server, file)
    step_cycles(page, 2)
    page.goto(f"{server.url}/s/{session}/?select=pod:default/web-1&tab=yaml")
    element = page.locator("[data-stored-object]")
    expect(element).to_contain_text("nodeName: node-", timeout=PATIENCE_MILLIS)

    page.keyboard.press("Home")
    expect(element).not_to_contain_text("nodeName", timeout=PATIENCE_MILLIS)


def test_describe_compares_the_api_server_with_the_cache(page: Page, server: Server, file: Path) -> None:
    session = import_through(page, server, file)
    token = (server.data / "token").read_text().strip()
    command = {"op": "schedule"}
    for _ in range(2):  # The first pod fits nowhere; the second is assumed, and its binding held.
        send(server, token, session, command)
    assumed = server.rest(f"sessions/{session}/cycles/?tail=1")["results"][0]
    page.goto(f"{server.url}/s/{session}/?select=node:{assumed['node']}&tab=describe")

    cpu = page.locator("[data-described] [data-resource=cpu]")
    cpu.wait_for(timeout=PATIENCE_MILLIS)
    body = server.rest(f"sessions/{session}/describe/nodes/{assumed['node']}/")
    assert body["cacheRequested"]["milliCPU"] == body["requests"].get("milliCPU", 0) + 500
    expect(cpu).to_have_class(re.compile("differs"))
    expect(page.locator("[data-apart]")).to_have_attribute("data-apart", "1")
    expect(page.locator("[data-described]")).to_contain_text("not yet bound in the API server")


def send(server: Server, token: str, session: str, command: dict[str, str]) -> None:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Prefer": "wait=30"}
    request = urllib.request.Request(f"{server.url}/api/v1/sessions/{session}/commands/", json.dumps(command).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        assert json.load(response)["outcome"]["error"] == ""
