"""Names that contain scripts are drawn as text in every view."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from schedviz.web.pages.embed import PANELS
from tests.conftest import until
from tests.e2e.cluster import node, pod
from tests.e2e.conftest import Server

#: Each would set `window.hacked` if it were read as HTML, an attribute, a URL or a template.
PAYLOADS = [
    "<img src=x onerror=window.hacked=1>",
    "<svg/onload=window.hacked=1>",
    '"><script>window.hacked=1</script>',
    "'onmouseover='window.hacked=1",
    "javascript:window.hacked=1",
    "{{constructor.constructor('window.hacked=1')()}}",
    "</script><script>window.hacked=1</script>",
    "\u202e<b>turned</b>",
]


def hostile_cluster() -> dict[str, Any]:
    """An API server would refuse such names, but files can contain them, also in labels, images, reasons and taints."""
    nodes = [node(f"node-{i}{payload}", payload, "4") for i, payload in enumerate(PAYLOADS)]
    for each, payload in zip(nodes, PAYLOADS, strict=True):
        each["metadata"]["labels"] |= {payload: payload}
        each["spec"]["taints"] = [{"key": payload, "value": payload, "effect": "PreferNoSchedule"}]
    pods = [pod(f"pod-{i}{payload}", "500m", schedulerName="default-scheduler") for i, payload in enumerate(PAYLOADS)]
    for each, payload in zip(pods, PAYLOADS, strict=True):
        each["metadata"] |= {"labels": {payload: payload}, "namespace": payload}
        each["spec"]["containers"][0]["image"] = payload
    giant = pod(f"giant{PAYLOADS[0]}", "64", nodeSelector={PAYLOADS[1]: PAYLOADS[2]})
    return {"apiVersion": "v1", "kind": "List", "items": [*nodes, *pods, giant]}


def upload(server: Server, name: str, cluster: dict[str, Any]) -> dict[str, Any]:
    boundary = "a-boundary-of-this-test"
    part = f'--{boundary}\r\nContent-Disposition: form-data; name="{{}}"{{}}\r\n\r\n{{}}\r\n'
    body = part.format("name", "", name) + part.format("file", '; filename="cluster.json"', json.dumps(cluster)) + f"--{boundary}--\r\n"
    token = (server.data / "token").read_text().strip()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": f"multipart/form-data; boundary={boundary}"}
    request = urllib.request.Request(f"{server.url}/api/v1/sessions/", body.encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        made: dict[str, Any] = json.load(answer)
    return made


@pytest.fixture(scope="module")
def hostile(server: Server) -> dict[str, Any]:
    """A session of such a cluster, in which some pods were scheduled and some cannot be."""
    made = upload(server, f"a session {PAYLOADS[0]}{PAYLOADS[2]}", hostile_cluster())
    result = until(lambda: _settled(server, made["id"]))
    assert result["status"] == "ready", result["message"]
    server.rest(f"sessions/{made['id']}/commands/", {"op": "run", "max": 50})
    until(lambda: (one := server.rest(f"sessions/{made['id']}/"))["appliedSeq"] == one["lastSeq"] and one)
    assert server.rest(f"sessions/{made['id']}/")["cycle"] > len(PAYLOADS)
    return made


def _settled(server: Server, session: str) -> dict[str, Any] | None:
    one: dict[str, Any] = server.rest(f"sessions/{session}/")
    return one if one["status"] != "importing" else None


def is_unharmed(page: Page) -> bool:
    """Nothing ran, and no element or attribute was made of a name."""
    return bool(
        page.evaluate(
            """() => window.hacked === undefined
              && !document.querySelector('img[src="x"], [onerror], [onload], [onmouseover], a[href^="javascript:"]')
              && ![...document.scripts].some((script) => !script.src)"""
        )
    )


def test_the_session_page_draws_hostile_names_as_text(page: Page, server: Server, hostile: dict[str, Any]) -> None:
    page.goto(f"{server.url}/s/{hostile['id']}/")
    expect(page.get_by_text("<img src=x onerror=window.hacked=1>").first).to_be_visible(timeout=30_000)

    assert is_unharmed(page)


@pytest.mark.parametrize("panel", PANELS)
def test_each_panel_draws_hostile_names_as_text(page: Page, server: Server, hostile: dict[str, Any], panel: str) -> None:
    page.goto(f"{server.url}/s/{hostile['id']}/panel/{panel}/")
    page.wait_for_load_state("networkidle")

    assert is_unharmed(page)


def test_lists_and_comparisons_draw_hostile_names_as_text(page: Page, server: Server, hostile: dict[str, Any]) -> None:
    page.goto(f"{server.url}/sessions/")
    expect(page.get_by_text(f"a session {PAYLOADS[0]}").first).to_be_visible(timeout=30_000)
    assert is_unharmed(page)

    page.goto(f"{server.url}/compare/?a={hostile['id']}@5&b={hostile['id']}")
    page.wait_for_load_state("networkidle")
    assert is_unharmed(page)


def test_a_downloaded_report_has_hostile_names_as_text(page: Page, server: Server, hostile: dict[str, Any]) -> None:
    """It is one file that is opened from a disk, with no policy of ours around it."""
    token = (server.data / "token").read_text().strip()
    address = f"{server.url}/api/v1/compare/report/?a={hostile['id']}@5&b={hostile['id']}"
    with urllib.request.urlopen(urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"}), timeout=60) as answer:
        page.set_content(answer.read().decode())

    assert page.evaluate(
        "() => window.hacked === undefined && !document.querySelector('img[src=\"x\"], [onerror], [onload], [onmouseover]')"
    )


@pytest.mark.parametrize("selected", ["pod", "node"])
def test_a_hostile_name_in_a_url_is_drawn_as_text(page: Page, server: Server, hostile: dict[str, Any], selected: str) -> None:
    for payload in PAYLOADS[:4]:
        page.goto(f"{server.url}/s/{hostile['id']}/?{selected}={urllib.request.quote(payload)}&at=3&select={urllib.request.quote(payload)}")
        page.wait_for_load_state("networkidle")
        assert is_unharmed(page)
