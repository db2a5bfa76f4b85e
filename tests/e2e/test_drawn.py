"""Canvases show the values of their tables, and animations follow the events."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.conftest import until
from tests.e2e.cluster import dump
from tests.e2e.conftest import EXPERT, Server
from tests.e2e.test_session_page import PATIENCE_MILLIS, cells, import_through, pods_in, show_as_tables, step_cycles

pytestmark = pytest.mark.browser

#: Records the texts that each canvas has drawn since it was cleared, with their positions.
LISTEN = """
const { fillText, clearRect } = CanvasRenderingContext2D.prototype;
CanvasRenderingContext2D.prototype.clearRect = function (...box) { this.canvas.written = []; return clearRect.apply(this, box); };
CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
  (this.canvas.written ??= []).push({ text, x, y });
  return fillText.call(this, text, x, y, ...rest);
};
"""
#: Records the pods that were animated.
FOLLOW = """
globalThis.travelled = {};
new MutationObserver(() => {
  for (const one of document.querySelectorAll("[data-moving-pod]")) {
    const looks = (travelled[one.dataset.movingPod] ??= []);
    const look = [...one.classList].find((name) => ["queued", "assumed", "added", "failed"].includes(name));
    if (looks.at(-1) !== look) looks.push(look);
  }
}).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["class"] });
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps(dump(nodes=4)))
    return file


@pytest.fixture
def still(browser: Browser, signed_in: BrowserContext) -> Iterator[Page]:
    """A page of a browser without stored settings and with reduced motion."""
    yield from _page(browser, signed_in, "reduce")


@pytest.fixture
def moving(browser: Browser, signed_in: BrowserContext) -> Iterator[Page]:
    """The same, without reduced motion."""
    yield from _page(browser, signed_in, "no-preference")


def _page(browser: Browser, signed_in: BrowserContext, reduced_motion: Literal["reduce", "no-preference"]) -> Iterator[Page]:
    login = [cookie for cookie in signed_in.storage_state()["cookies"] if cookie["name"] not in ("schedviz_theme", "schedviz_language")]
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion=reduced_motion, color_scheme="dark")
    context.add_init_script(EXPERT)
    context.add_cookies(login)  # type: ignore[arg-type]
    yield context.new_page()
    context.close()


def written(page: Page, canvas: str) -> list[str]:
    texts: list[str] = page.locator(canvas).evaluate("canvas => (canvas.written ?? []).map((word) => word.text)")
    return texts


def test_the_cache_canvas_has_the_values_of_its_table(still: Page, server: Server, file: Path) -> None:
    still.add_init_script(LISTEN)
    import_through(still, server, file)
    step_cycles(still, 6)
    canvas = "canvas[role=application]"
    until(lambda: "node-1" in written(still, canvas), seconds=60)
    picture = written(still, canvas)

    show_as_tables(still)

    nodes = cells(still, "node")
    assert [word for word in picture if word in nodes] == nodes, "each node once, in the order of the list"
    for column in ("generation", "cpu", "memory", "pods"):
        left = list(picture)
        for value in cells(still, column):
            assert value in left, f"{column} {value} is in the table and not in the picture {picture}"
            left.remove(value)
    drawn = sum(1 for word in picture if word.startswith("web-") or word == "old")
    assert drawn == sum(int(text.split(" / ")[0]) for text in cells(still, "pods")), "each pod by its name"


def test_the_heap_of_active_q_has_the_pods_of_its_pop_order(still: Page, server: Server, file: Path) -> None:
    still.add_init_script(LISTEN)
    import_through(still, server, file)
    canvas = "[data-queue=activeQ] canvas"
    until(lambda: written(still, canvas), seconds=60)
    picture = written(still, canvas)

    show_as_tables(still)

    order = [str(pod).removeprefix("default/") for pod in pods_in(still, "activeQ")]
    assert picture[0] == order[0], "the root is the next that is popped"
    assert set(picture) <= set(order)


def test_nodes_name_their_pods_beside_the_drawer(still: Page, server: Server, file: Path) -> None:
    still.add_init_script(LISTEN)
    import_through(still, server, file)
    # The pod of the first cycle fits nowhere.
    step_cycles(still, 3)
    canvas = "canvas[role=application]"
    still.locator("[data-cycle] .pod button").first.click()
    still.locator(".drawer").wait_for()
    until(lambda: len([word for word in written(still, canvas) if word.startswith("web-")]) == 2, seconds=60)


def test_the_buttons_that_zoom_the_cells_cover_none_of_them(still: Page, server: Server) -> None:
    session = server.rest("sessions/", {"generate": {"shape": "mixed", "nodes": 1500, "pods": 10}})["id"]
    until(lambda: server.rest(f"sessions/{session}/")["status"] == "ready", seconds=60)
    still.goto(f"{server.url}/s/{session}/")
    still.locator("[data-list-zoom]").wait_for(timeout=PATIENCE_MILLIS)
    canvas = still.locator("canvas[role=application]")
    empty = """(canvas) => {
      const box = document.querySelector("[data-list-zoom]").getBoundingClientRect(), frame = canvas.getBoundingClientRect(), ratio = canvas.width / frame.width;
      const { data } = canvas.getContext("2d").getImageData((box.left - frame.left) * ratio, (box.top - frame.top) * ratio, box.width * ratio, box.height * ratio);
      return data.every((value) => value === 0);
    }"""
    until(
        lambda: canvas.evaluate(
            "canvas => canvas.getContext('2d').getImageData(20, canvas.height / 2, 40, 40).data.some((value) => value > 0)"
        ),
        seconds=60,
    )
    assert canvas.evaluate(empty)


def test_the_timeline_has_lanes_for_rare_events_once_there_is_one(still: Page, server: Server, file: Path) -> None:
    import_through(still, server, file)
    step_cycles(still, 1)
    lanes = still.locator("[data-lane][aria-pressed]")
    expect(lanes).to_have_text(["cycles", "queue", "binding"])
    low = still.locator(".timeline").bounding_box()
    session = re.search(r"/s/([^/]+)/", still.url)
    assert session
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "late"},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"}},
    }
    server.rest(f"sessions/{session[1]}/commands/", {"op": "create", "object": node, "key": "late"})
    expect(lanes).to_have_text(["cycles", "queue", "binding", "nodes"], timeout=PATIENCE_MILLIS)
    high = still.locator(".timeline").bounding_box()
    assert low
    assert high
    assert high["height"] > low["height"]


@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)], ids=["1280", "1920"])
def test_a_click_on_the_canvas_selects_the_node_that_it_shows(still: Page, server: Server, file: Path, size: tuple[int, int]) -> None:
    still.set_viewport_size({"width": size[0], "height": size[1]})
    still.add_init_script(LISTEN)
    import_through(still, server, file)
    canvas = still.locator("canvas[role=application]")
    until(lambda: "node-3" in written(still, "canvas[role=application]"), seconds=60)

    for node in ("node-3", "node-1"):
        place = canvas.evaluate("(canvas, node) => canvas.written.find((word) => word.text === node)", node)
        zoom = canvas.evaluate("canvas => canvas.currentCSSZoom")
        assert (zoom > 1) == (size[0] == 1920), "a large screen is not filled with small type"
        box = canvas.bounding_box()
        assert box
        still.mouse.click(box["x"] + (place["x"] + 8 + 4) * zoom, box["y"] + (place["y"] + 24 - 4) * zoom)
        expect(still).to_have_url(re.compile(f"select=node:{node}"), timeout=PATIENCE_MILLIS)


def test_the_animation_moves_a_pod_from_the_queue_through_the_cycle_to_its_node(moving: Page, server: Server, file: Path) -> None:
    moving.add_init_script(FOLLOW)
    import_through(moving, server, file)

    step_cycles(moving, 2)

    def looks() -> list[list[str]]:
        travelled: dict[str, list[str]] = moving.evaluate("travelled")
        return [seen for pod, seen in travelled.items() if pod.startswith("default/web-")]

    until(lambda: any(seen[-1] == "added" for seen in looks()), seconds=60)
    assert ["queued", "assumed", "added"] in looks()
    expect(moving.locator("[data-moving-pod]")).to_have_count(0, timeout=PATIENCE_MILLIS)


def test_reduced_motion_disables_the_animation(still: Page, server: Server, file: Path) -> None:
    still.add_init_script(FOLLOW)
    import_through(still, server, file)

    step_cycles(still, 2)

    assert still.evaluate("travelled") == {}


def test_the_legend_of_the_load_counts_every_node_and_dims_all_but_those_of_a_class(still: Page, server: Server, file: Path) -> None:
    import_through(still, server, file)
    step_cycles(still, 3)
    entries = still.locator("[data-legend^=load-]")
    expect(entries.first).to_be_visible(timeout=PATIENCE_MILLIS)

    def counts_of() -> dict[str, int]:
        counts: dict[str, int] = entries.evaluate_all(
            "entries => Object.fromEntries(entries.map(({ dataset }) => [dataset.legend, Number(dataset.count)]))"
        )
        return counts

    until(lambda: sum(counts_of().values()) == 4 and counts_of()["load-0"] == 1, seconds=60)
    counts = counts_of()

    wanted = next(name for name, count in counts.items() if count)
    still.locator(f"[data-legend={wanted}]").click()

    expect(still.locator("[data-focused-nodes]")).to_have_attribute("data-focused-nodes", str(counts[wanted]))


def test_the_items_beside_the_waterline_add_up(still: Page, server: Server, file: Path) -> None:
    import_through(still, server, file)
    for number in range(1, 5):
        still.keyboard.press("ArrowRight")
        still.locator(f'[data-cycle="{number}"]:not([data-outcome=""])').wait_for(timeout=PATIENCE_MILLIS)
        parts = [int(still.locator(f"[data-{part}]").first.inner_text()) for part in ("ahead", "visited", "untouched")]
        assert sum(parts) == 4


def test_the_moves_of_a_selected_pod_are_complete_however_long_ago_they_happened(still: Page, server: Server, tmp_path: Path) -> None:
    file = tmp_path / "many.json"
    file.write_text(json.dumps(dump(nodes=6, pods=40)))
    session = import_through(still, server, file)
    server.rest(f"sessions/{session}/commands/", {"key": "all", "op": "run"})
    until(lambda: server.rest(f"sessions/{session}/")["cycle"] >= 41, seconds=60)
    events = server.rest(f"sessions/{session}/events/?after=0&limit=2000")["results"]
    moves = [
        event["event"]
        for event in events
        if event["t"] == "queueMoved"
        for move in event.get("moves", [])
        if move["pod"] == "default/giant" and move.get("source") != move.get("target")
    ]
    assert max(moves) < events[-1]["event"] - 400, "longer ago than what is read of all pods"

    still.goto(f"{server.url}/s/{session}/?select=pod:default/giant")

    expect(still.locator(".moves [data-count]")).to_have_attribute("data-count", str(len(moves)), timeout=PATIENCE_MILLIS)


def test_the_filter_bar_shows_the_nodes_that_were_not_evaluated(still: Page, server: Server) -> None:
    made = server.rest("sessions/", {"generate": {"shape": "basic", "nodes": 400, "pods": 5}, "name": "sampled"})["id"]
    until(lambda: server.rest(f"sessions/{made}/")["status"] == "ready", seconds=60)
    still.goto(f"{server.url}/s/{made}/")
    step_cycles(still, 1)

    rest = still.locator("[data-stage=Filter] [data-part=unseen]")
    bar = still.locator("[data-stage=Filter] .bar").bounding_box()
    place = rest.bounding_box()
    assert bar
    assert place
    share = int(rest.get_attribute("data-nodes") or 0) / 400
    assert abs(place["width"] / bar["width"] - share) < 0.05
    assert abs(place["x"] + place["width"] - bar["x"] - bar["width"]) < 2


def test_the_filter_bar_has_a_part_for_feasible_nodes_and_for_each_plugin_that_rejected_some(
    still: Page, server: Server, file: Path
) -> None:
    import_through(still, server, file)
    still.keyboard.press("ArrowRight")
    bar = still.locator("[data-stage=Filter] [data-part]")
    expect(bar.first).to_be_visible(timeout=PATIENCE_MILLIS)
    parts = {str(one.get_attribute("data-part")): int(str(one.get_attribute("data-nodes"))) for one in bar.all()}
    assert parts == {"NodeResourcesFit": 4} or parts.get("feasible"), "the pod that fits nowhere, or one that fits"
    assert sum(parts.values()) == 4

    bar.last.click()

    expect(still.locator("[data-matrix]")).to_be_visible(timeout=PATIENCE_MILLIS)


#: Elements with cut text and no tooltip, and numbers that wrap.
UNREADABLE = """() => [...document.querySelectorAll('#app *')].flatMap((element) => {
  const { overflowX, whiteSpace, visibility } = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  if (visibility === 'hidden' || box.width < 2 || box.height < 2 || element.closest('.unseen')) return [];
  const text = element.textContent.trim();
  const isCut = text && overflowX === 'hidden' && whiteSpace === 'nowrap' && element.scrollWidth > element.clientWidth + 1;
  if (isCut && !element.closest('[title]') && !element.querySelector('[title]')) return [`cut: ${text}`];
  if (element.children.length || !/^[≈−+]?[0-9][0-9.,]*(%|m|s| s|[KMGT]i)?( [/] .+)?$/.test(text)) return [];
  const range = document.createRange();
  range.selectNodeContents(element);
  return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1 ? [`broken: ${text}`] : [];
})"""


@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080), (390, 844)], ids=["1280", "1920", "390"])
def test_cut_text_can_be_read_and_no_figure_breaks_over_lines(still: Page, server: Server, tmp_path: Path, size: tuple[int, int]) -> None:
    long = dump(nodes=6, pods=12)
    for item in long["items"]:
        item["metadata"]["name"] += "-in-a-cluster-with-names-of-many-words"
        if "nodeName" in item.get("spec", {}):
            item["spec"]["nodeName"] += "-in-a-cluster-with-names-of-many-words"
    file = tmp_path / "long.json"
    file.write_text(json.dumps(long))
    session = import_through(still, server, file)
    server.rest(f"sessions/{session}/commands/", {"key": "run", "op": "run"})
    until(lambda: server.rest(f"sessions/{session}/")["cycle"] >= 13, seconds=60)
    still.set_viewport_size({"width": size[0], "height": size[1]})
    giant = "default/giant-in-a-cluster-with-names-of-many-words"
    node = "node-1-in-a-cluster-with-names-of-many-words"
    for query, there in (
        ("", "[data-cycle]"),
        (f"?select=pod:{giant}&tab=why", "[data-why-sentence]"),
        (f"?select=node:{node}&tab=describe", "[data-described]"),
        (f"?select=pod:{giant}&tab=history", "[data-entry]"),
    ):
        still.goto(f"{server.url}/s/{session}/{query}")
        still.locator(there).first.wait_for(timeout=PATIENCE_MILLIS)
        assert still.evaluate(UNREADABLE) == [], query


def test_a_theme_change_redraws_the_canvases(still: Page, server: Server, file: Path) -> None:
    import_through(still, server, file)
    canvas = still.locator("canvas[role=application]")
    # The median of a line of pixels, most of which are neither text nor boxes.
    paper = """canvas => {
        const line = canvas.getContext("2d").getImageData(0, 34 * devicePixelRatio, canvas.width, 1).data;
        return line.filter((_, index) => index % 4 === 0).sort()[canvas.width / 2 | 0];
    }"""
    until(lambda: 0 < canvas.evaluate(paper) < 64, seconds=60)

    still.emulate_media(color_scheme="light")

    until(lambda: canvas.evaluate(paper) > 192, seconds=60)
