"""Text that is pasted on the start page is explained there, or becomes a session."""

from __future__ import annotations

import gzip
import json
import lzma
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import until
from tests.e2e.conftest import Server
from tests.e2e.test_session_page import PATIENCE_MILLIS

pytestmark = pytest.mark.browser

DESCRIBED = """$ kubectl describe pod web -n shop
Name:             web
Namespace:        shop
Events:
  Warning  FailedScheduling  5m  default-scheduler  0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had untolerated taint {gpu: true}.
"""
POD = """apiVersion: v1
kind: Pod
metadata: {name: alone, namespace: default}
spec: {containers: [{name: main, image: registry.example/app}]}
"""


def paste(page: Page, server: Server, text: str, *, address: str = "/") -> None:
    page.goto(server.url + address)
    page.locator("#paste-box").fill(text)
    page.locator("[data-paste-explain]").click()


def test_a_described_pod_is_explained_without_a_session(page: Page, server: Server) -> None:
    sessions = server.rest("sessions/")["count"]

    paste(page, server, DESCRIBED)

    answer = page.locator("[data-paste-answer]")
    answer.wait_for(timeout=PATIENCE_MILLIS)
    expect(answer).to_contain_text("shop/web")
    reasons = [row.get_attribute("data-reason") for row in answer.locator("[data-reason]").all()]
    assert reasons == ["Insufficient cpu", "node(s) had untolerated taint {gpu: true}"]
    expect(answer.locator("[data-reason-bar]")).to_have_attribute("data-reason-bar", "2")
    assert server.rest("sessions/")["count"] == sessions


def test_the_message_of_an_autoscaler_is_above_the_schedulers_reasons(page: Page, server: Server) -> None:
    event = "Normal  NotTriggerScaleUp  2m  cluster-autoscaler  pod didn't trigger scale-up: 1 max node group size reached"
    paste(page, server, f"{DESCRIBED}  {event}\n")

    answer = page.locator("[data-paste-answer]")
    answer.wait_for(timeout=PATIENCE_MILLIS)
    reasons = [row.get_attribute("data-reason") for row in answer.locator("[data-reason]").all()]
    assert reasons[:2] == ["Insufficient cpu", "node(s) had untolerated taint {gpu: true}"]
    expect(answer.locator("[data-first]")).to_contain_text("The cluster autoscaler did not add a node: 1 node group is at its maximum size")
    expect(answer.locator("[data-first-advice]")).to_contain_text("Raise the maximum size of a node group")
    expect(answer.locator("[data-component]")).to_contain_text("1 max node group size reached")


def test_pasted_objects_become_a_session_that_opens_on_its_overview(page: Page, server: Server) -> None:
    paste(page, server, POD)

    page.wait_for_url(re.compile(r"/s/[^/]+/"), timeout=PATIENCE_MILLIS)
    expect(page.locator("body")).to_contain_text("1 pod is pending", timeout=PATIENCE_MILLIS)


STUCK = (
    POD
    + """status:
  phase: Pending
  conditions:
  - {type: PodScheduled, status: "False", message: "0/5 nodes are available: 3 Insufficient cpu, 2 node(s) were unschedulable."}
"""
)


def test_a_pod_without_nodes_is_explained_like_a_text_and_opens_as_a_session_if_asked(page: Page, server: Server) -> None:
    sessions = server.rest("sessions/")["count"]
    paste(page, server, STUCK)

    answer = page.locator("[data-paste-answer]")
    expect(answer.locator("h2")).to_have_text("alone", timeout=PATIENCE_MILLIS)
    expect(answer.locator("[data-conclusion]")).to_contain_text("3 do not have enough free CPU and 2 are cordoned")
    assert server.rest("sessions/")["count"] == sessions

    answer.locator("[data-open-session]").click()
    page.wait_for_url(re.compile(r"/s/[^/]+/"), timeout=PATIENCE_MILLIS)
    assert server.rest("sessions/")["count"] == sessions + 1


def test_a_dropped_pod_without_nodes_is_explained_and_one_with_nodes_becomes_a_session(page: Page, server: Server, tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(STUCK)
    (tmp_path / "node.yaml").write_text(
        "apiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: {allocatable: {cpu: 4, memory: 8Gi, pods: 9}}\n"
    )

    page.goto(server.url)
    page.locator("[data-upload]").set_input_files(tmp_path / "pod.yaml")
    expect(page.locator("[data-open-session]")).to_be_visible(timeout=PATIENCE_MILLIS)
    page.locator("[data-upload]").set_input_files([tmp_path / "pod.yaml", tmp_path / "node.yaml"])
    page.wait_for_url(re.compile(r"/s/[^/]+/"), timeout=PATIENCE_MILLIS)
    # Neither file has a version.
    session = re.search(r"/s/([^/]+)/", page.url)
    assert session is not None
    until(lambda: server.rest(f"sessions/{session[1]}/")["status"] != "importing")
    assert server.rest(f"sessions/{session[1]}/")["release"] == "v1.36"


def test_pods_of_one_replica_set_with_the_same_reasons_are_one_card_that_names_them(page: Page, server: Server) -> None:
    event = "{}m  Warning  FailedScheduling  pod/web-6f7d8c9b5-{}  0/{} nodes are available: {} Insufficient cpu."
    rows = [event.format(age, name, nodes, nodes) for age, name, nodes in ((1, "bbcdz", 6), (2, "fghkj", 6), (3, "x9zqw", 7))]
    paste(page, server, "\n".join(("LAST SEEN  TYPE  REASON  OBJECT  MESSAGE", *rows)))

    expect(page.locator("[data-paste-answer] h2")).to_have_text(["3 pods"], timeout=PATIENCE_MILLIS)
    others = page.locator("[data-other-pods]")
    others.locator("summary").click()
    expect(others.locator("li")).to_have_count(2)
    # What differs is shown beside its pod.
    expect(others.locator("li").last).to_contain_text("web-6f7d8c9b5-x9zqw")
    expect(others.locator("li").last).to_contain_text("0/7 nodes are available: 7 Insufficient cpu")


def test_the_page_of_sessions_has_the_same_box(page: Page, server: Server) -> None:
    paste(page, server, DESCRIBED, address="/sessions/")

    expect(page.locator("[data-paste-answer]")).to_contain_text("None of the 5 nodes can run the pod", timeout=PATIENCE_MILLIS)


def test_an_explained_text_is_shared_as_a_card_and_as_markdown(page: Page, server: Server) -> None:
    paste(page, server, DESCRIBED)

    page.locator("[data-share-card]").click(timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-card]")).to_be_visible(timeout=PATIENCE_MILLIS)
    page.keyboard.press("Escape")
    markdown = page.evaluate(
        """async () => {
            window.copied = ""
            navigator.clipboard.writeText = async (text) => { window.copied = text }
            document.querySelector("[data-share-card] + button").click()
            while (!window.copied) await new Promise((resolve) => requestAnimationFrame(resolve))
            return window.copied
        }"""
    )
    assert markdown.startswith("### Why `shop/web` is pending")
    assert "- kube-scheduler: `3 Insufficient cpu` (NodeResourcesFit)" in markdown


def test_a_table_of_kubectl_says_what_it_lacks(page: Page, server: Server) -> None:
    paste(page, server, "NAME   READY   STATUS    RESTARTS   AGE\nweb-1  0/1     Pending   0          5m\n")

    expect(page.get_by_text("table output does not show")).to_be_visible(timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-paste-answer] code")).to_have_text("kubectl describe pod web-1")


def test_a_pod_that_was_scheduled_since_is_not_called_pending(page: Page, server: Server) -> None:
    event = "Normal  Scheduled  1m  default-scheduler  Successfully assigned shop/web to node-a"
    # A text that is pasted into the empty box is explained without a click.
    page.goto(server.url)
    page.locator("#paste-box").evaluate(
        """(box, text) => {
            const data = new DataTransfer();
            data.setData("text/plain", text);
            box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
        }""",
        f"{DESCRIBED}  {event}\n",
    )

    section = page.locator("[data-standing=scheduled]")
    expect(section).to_contain_text("The pod is already scheduled to node-a (1m ago)", timeout=PATIENCE_MILLIS)
    expect(section.locator("[data-reason]")).to_have_count(0)


def test_the_example_of_the_start_page_is_explained(page: Page, server: Server) -> None:
    page.goto(server.url)
    page.locator("[data-paste-example]").click(timeout=PATIENCE_MILLIS)

    expect(page.locator("[data-paste-answer]")).to_contain_text("shop/checkout-6d9f", timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-advice] code").first).to_have_text("kubectl describe nodes")


def test_a_text_without_objects_or_messages_says_what_to_paste(page: Page, server: Server) -> None:
    paste(page, server, "hello")

    expect(page.get_by_text("Paste the output of kubectl describe pod")).to_be_visible(timeout=PATIENCE_MILLIS)


def test_a_dropped_description_is_explained_without_a_session(page: Page, server: Server, tmp_path: Path) -> None:
    sessions = server.rest("sessions/")["count"]
    described = tmp_path / "describe.txt"
    described.write_text(DESCRIBED)

    page.goto(f"{server.url}/sessions/")
    page.locator("[data-upload]").set_input_files(described)

    expect(page.locator("[data-paste-answer]")).to_contain_text("shop/web", timeout=PATIENCE_MILLIS)
    expect(page.locator("[data-advice]").first).to_be_visible()
    assert server.rest("sessions/")["count"] == sessions


def test_several_dropped_texts_are_explained_each_on_its_own(page: Page, server: Server, tmp_path: Path) -> None:
    sessions = server.rest("sessions/")["count"]
    (tmp_path / "describe.txt").write_text(DESCRIBED)
    (tmp_path / "chat.txt").write_text("somebody wrote\n0/7 nodes are available: 7 Insufficient memory.\n")

    page.goto(server.url)
    page.locator("[data-upload]").set_input_files([tmp_path / "describe.txt", tmp_path / "chat.txt"])

    expect(page.locator("[data-paste-answer] h2")).to_have_text(["shop/web", "Unnamed pod"], timeout=PATIENCE_MILLIS)
    assert server.rest("sessions/")["count"] == sessions


def test_pods_of_one_replica_set_in_several_dropped_texts_are_one_card(page: Page, server: Server, tmp_path: Path) -> None:
    for name, nodes in (("bbcdz", 6), ("x9zqw", 7)):
        (tmp_path / f"{name}.txt").write_text(f"pod/web-6f7d8c9b5-{name}: 0/{nodes} nodes are available: {nodes} Insufficient cpu.\n")

    page.goto(server.url)
    page.locator("[data-upload]").set_input_files([tmp_path / "bbcdz.txt", tmp_path / "x9zqw.txt"])

    expect(page.locator("[data-paste-answer] h2")).to_have_text(["2 pods"], timeout=PATIENCE_MILLIS)


def test_a_dropped_log_of_another_scheduler_is_explained_without_a_session(page: Page, server: Server, tmp_path: Path) -> None:
    said = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor default, 2 more needed"
    (tmp_path / "kueue.log").write_text(f"I0310 10:00:00.000000 1 workload.go:87] {said}\n")

    page.goto(server.url)
    page.locator("[data-upload]").set_input_files(tmp_path / "kueue.log")

    expect(page.locator("[data-paste-answer]")).to_contain_text("Kueue has not admitted the workload.", timeout=PATIENCE_MILLIS)


def test_a_dropped_screen_or_picture_says_what_to_paste_without_a_session(page: Page, server: Server, tmp_path: Path) -> None:
    sessions = server.rest("sessions/")["count"]
    (tmp_path / "screen.txt").write_text("┌── Pods(shop)[1] ──┐\n│ NAME↑   PF READY STATUS  │\n│ web-1   ●  0/1   Pending │\n")
    (tmp_path / "screen.png").write_bytes(b"\x89PNG\r\n\x1a\n")

    page.goto(server.url)
    page.locator("[data-upload]").set_input_files(tmp_path / "screen.txt")
    expect(page.locator("[data-paste-answer]")).to_contain_text("Paste the output of kubectl describe pod", timeout=PATIENCE_MILLIS)
    page.locator("[data-upload]").set_input_files(tmp_path / "screen.png")
    expect(page.get_by_role("alert")).to_contain_text("screen.png is an image. Paste its text", timeout=PATIENCE_MILLIS)
    assert server.rest("sessions/")["count"] == sessions


def an_event(
    name: str, *, reason: str = "FailedScheduling", message: str = "0/5 nodes are available: 5 Insufficient cpu."
) -> dict[str, Any]:
    reference = {"kind": "Pod", "namespace": "shop", "name": name}
    return {"apiVersion": "v1", "kind": "Event", "reason": reason, "message": message, "involvedObject": reference}


def events(kilobytes: int) -> str:
    others = [an_event("other", reason="Pulled", message="x" * 870)] * kilobytes
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [*others, an_event("last")]})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("describe.txt.gz", gzip.compress(DESCRIBED.encode())),
        ("describe.txt.xz", lzma.compress(DESCRIBED.encode())),
        ("events.json", events(400).encode()),
        ("events.json.xz", lzma.compress(events(400).encode())),
    ],
)
def test_a_dropped_file_with_messages_alone_is_explained_without_a_session(
    page: Page, server: Server, tmp_path: Path, name: str, content: bytes
) -> None:
    sessions = server.rest("sessions/")["count"]
    (tmp_path / name).write_bytes(content)

    page.goto(server.url)
    page.locator("[data-upload]").set_input_files(tmp_path / name)

    expect(page.locator("[data-paste-answer] h2")).to_have_text(re.compile("^shop/(web|last)$"), timeout=PATIENCE_MILLIS)
    assert server.rest("sessions/")["count"] == sessions


def test_a_file_that_cannot_be_imported_is_explained_by_its_messages_and_its_session_is_deleted(
    page: Page, server: Server, tmp_path: Path
) -> None:
    sessions = server.rest("sessions/")["count"]
    condition = {"type": "PodScheduled", "status": "False", "message": "0/5 nodes are available: 5 Insufficient cpu."}
    stuck = {
        "apiVersion": "v1",
        "kind": "Pod",
        # Text with a capacity may have nodes, so an import is tried.
        "metadata": {"name": "web", "labels": {"allocatable": "4"}},
        "spec": {"nodeName": ""},
        "status": {"conditions": [condition]},
    }
    (tmp_path / "cut.json").write_text(json.dumps({"kind": "List", "items": [stuck]})[:-4])

    page.goto(server.url)
    with page.expect_request(lambda request: request.method == "DELETE" and "/sessions/" in request.url, timeout=PATIENCE_MILLIS):
        page.locator("[data-upload]").set_input_files(tmp_path / "cut.json")

    expect(page.locator("[data-paste-answer]")).to_contain_text("None of the 5 nodes has enough free CPU", timeout=PATIENCE_MILLIS)
    assert page.url.rstrip("/") == server.url
    until(lambda: server.rest("sessions/")["count"] == sessions)


def test_a_message_beside_a_node_is_explained_without_a_session(page: Page, server: Server, tmp_path: Path) -> None:
    event = "Warning  FailedScheduling  1m  default-scheduler  0/2 nodes are available: 1 Insufficient memory, 2 Insufficient pods.\n"
    node = 'apiVersion: v1\nkind: Node\nmetadata: {name: edge-7}\nstatus:\n  allocatable: {pods: "8"}\n'
    (tmp_path / "event.txt").write_text(event)
    (tmp_path / "node.yaml").write_text(node)
    answer = page.locator("[data-paste-answer]")
    sessions = server.rest("sessions/")["count"]

    for text in (f"{event}---\n{node}", f"{node}{event}"):
        paste(page, server, text)
        expect(answer).to_contain_text("Neither node can run the pod", timeout=PATIENCE_MILLIS)
        expect(page.locator("[data-first-note]")).to_contain_text("edge-7 takes at most 8 pods")
    page.goto(server.url)
    page.locator("[data-upload]").set_input_files([tmp_path / "event.txt", tmp_path / "node.yaml"])
    expect(page.locator("[data-first-note]")).to_contain_text("edge-7 takes at most 8 pods", timeout=PATIENCE_MILLIS)
    expect(answer.locator(".session")).to_contain_text("no pods")
    assert server.rest("sessions/")["count"] == sessions


def test_a_file_without_messages_that_cannot_be_imported_opens_on_the_error(page: Page, server: Server, tmp_path: Path) -> None:
    (tmp_path / "cut.json").write_text('{"kind": "List", "items": [{"kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [{')

    page.goto(server.url)
    page.locator("[data-upload]").set_input_files(tmp_path / "cut.json")

    page.wait_for_url("**/s/*/?show=answer", timeout=PATIENCE_MILLIS)
    expect(page.locator("main [role=alert]")).to_be_visible(timeout=PATIENCE_MILLIS)
    assert page.locator("[data-paste-answer]").count() == 0


def test_a_dropped_file_with_more_messages_than_the_limit_says_so(page: Page, server: Server, tmp_path: Path) -> None:
    sessions = server.rest("sessions/")["count"]
    (tmp_path / "events.json").write_text(events(2_400))

    page.goto(server.url)
    page.locator("[data-upload]").set_input_files(tmp_path / "events.json")

    refused = page.locator("[data-paste-too-long]")
    expect(refused).to_contain_text("at most 2,097,152", timeout=PATIENCE_MILLIS)
    expect(refused).to_contain_text("--field-selector reason=FailedScheduling")
    assert server.rest("sessions/")["count"] == sessions


def test_a_message_that_omits_a_node_is_reported(page: Page, server: Server) -> None:
    paste(page, server, "0/6 nodes are available: 5 node(s) didn't match node selector.")

    expect(page.locator("[data-message-finding]")).to_contain_text("kubernetes issue 91601", timeout=PATIENCE_MILLIS)


def test_objects_in_markdown_become_a_session(page: Page, server: Server) -> None:
    paste(page, server, f"My pod waits:\n\n```yaml\n{POD}```\n\nWhy?\n")

    page.wait_for_url(re.compile(r"/s/[^/]+/"), timeout=PATIENCE_MILLIS)
    expect(page.locator("body")).to_contain_text("1 pod is pending", timeout=PATIENCE_MILLIS)
