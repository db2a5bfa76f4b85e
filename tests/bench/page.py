"""The cost of the page in headless Chromium with a real `schedviz up`: script time per frame, frames per second, memory of a long playback,
the first useful paint, and the latency from a key press to the drawn frame. Writes docs/page.md.

    .venv/bin/python -m tests.bench.page [--seconds 90] [--minutes 10] [--nodes 5000] [--pods 50000] [--write]

It takes about eight minutes. Ten minutes of playback at 12× are 7,200 cycles, which are played at 50 cycles a second in less than three.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, sync_playwright

from tests.bench import trace
from tests.bench.bundle import first_load
from tests.bench.drawn import ALL_DETAILS
from tests.bench.report import Figure, print_figures
from tests.bench.server import Server

DOCUMENT = Path("docs/page.md")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
)
WINDOW: Any = {"width": 1280, "height": 800}
#: Chromium limits the memory of a trace, so recordings are made in slices.
SLICE_SECONDS = 15
KEYS = 40
#: Cycles in a minute at 12×.
CYCLES_A_MINUTE = 720
#: The time limit of the playback whose heap is measured, on a busy machine.
MAX_SECONDS = 240

#: When the picture was drawn first; of each key, how many milliseconds after it each leg to the picture ended. Nothing asks for frames until
#: the page has changed: a loop that waits for the change keeps the page drawing.
WATCH = """
const { fillText } = CanvasRenderingContext2D.prototype;
CanvasRenderingContext2D.prototype.fillText = function (...words) { globalThis.firstDrawn ??= performance.now(); return fillText.apply(this, words); };
globalThis.keys = [];
let key = null;
const mark = (leg) => { if (key) key[leg] ??= performance.now() - key.pressed; };
globalThis.WebSocket = class extends WebSocket {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", ({ data }) => { if (data instanceof ArrayBuffer) mark("come"); });
  }
  send(data) { mark("sent"); super.send(data); }
};
addEventListener("keydown", () => {
  key = { pressed: performance.now() };
  const watch = new MutationObserver(() => {
    watch.disconnect();
    mark("changed");
    // A message that is sent on the frame in which the page has changed is read once that frame was laid out and painted.
    const drawn = new MessageChannel();
    drawn.port1.onmessage = () => { mark("drawn"); keys.push(key); key = null; drawn.port1.close(); };
    requestAnimationFrame(() => { mark("begun"); drawn.port2.postMessage(0); });
  });
  watch.observe(document.querySelector("[data-event]"), { attributeFilter: ["data-event"] });
}, true);
"""
#: The stages from a key press to the drawn frame, in order.
LEGS = {
    "sent": "command sent",
    "come": "its frame come",
    "changed": "decoded, folded, page changed",
    "begun": "frame begun",
    "drawn": "drawn, laid out, painted",
}
#: The delay of a key press after the previous frame, in ms: while the page still animates, and once it is at rest.
PAUSES = {80: "one after the other", 1500: "from rest"}
#: Frames per second, whether or not anything is drawn.
COUNT = """seconds => new Promise((done) => {
  const times = [];
  const tick = (now) => { times.push(now); if (now - times[0] < seconds * 1000) requestAnimationFrame(tick); else done(times); };
  requestAnimationFrame(tick);
})"""


def login_link(server: Server) -> str:
    command = [Path(sys.executable).with_name("schedviz"), "login", "--data", str(server.data)]
    stdout = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return re.findall(r"http://\S+/login/\?once=\S+", stdout)[-1]


def open_page(context: BrowserContext, server: Server, session: str) -> Page:
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(f"{server.url}/s/{session}/")
    page.locator("[data-queue=activeQ]").wait_for(timeout=60_000)
    page.wait_for_function("() => globalThis.firstDrawn", timeout=60_000)
    return page


def first_paint(browser: Browser, state: Any, server: Server, session: str) -> Figure:
    """The time from navigation to the first text on a canvas, with an empty browser cache."""
    taken = []
    for _ in range(5):
        context = browser.new_context(viewport=WINDOW, storage_state=state)
        taken.append(open_page(context, server, session).evaluate("firstDrawn"))
        context.close()
    return Figure("first useful paint, four nodes (median of 5, nothing cached)", f"{statistics.median(taken) / 1000:.2f} s", "≤ 1.5 s")


def key_to_picture(page: Page, nodes: int) -> list[Figure]:
    """The time from pressing → to the end of the frame in which the picture has changed, for a step of the engine, and the time of each stage."""
    figures = []
    for pause, how in PAUSES.items():
        page.evaluate("keys.length = 0")
        for number in range(KEYS):
            page.wait_for_timeout(pause)
            page.keyboard.press("ArrowRight")
            page.wait_for_function("number => keys.length > number", arg=number, timeout=60_000)
        keys: list[dict[str, float]] = page.evaluate("keys")
        cuts = statistics.quantiles((key["drawn"] for key in keys), n=20)
        what = f"key → drawn, one cycle, {nodes:,} nodes, {how}"
        figures.append(Figure(f"{what} (p50 / p95)", f"{cuts[9]:.0f} / {cuts[18]:.0f} ms", "25 ms"))
        legs = [statistics.median(key[leg] - key.get(before, 0) for key in keys) for before, leg in pairwise(["pressed at", *LEGS])]
        figures.append(Figure(f"the same by legs: {', '.join(LEGS.values())} (medians)", f"{' · '.join(f'{leg:.1f}' for leg in legs)} ms"))
    return figures


def past_to_picture(page: Page, nodes: int) -> Figure:
    """The same for a step back through history that the page holds, without a request. Leaves the page at the newest event."""
    page.evaluate("keys.length = 0")
    for number in range(KEYS // 2):
        page.wait_for_timeout(max(PAUSES))
        page.keyboard.press("ArrowLeft")
        page.wait_for_function("number => keys.length > number", arg=number, timeout=60_000)
    taken: list[float] = page.evaluate("keys.map((key) => key.drawn)")
    page.keyboard.press("End")
    cuts = statistics.quantiles(taken, n=20)
    return Figure(
        f"key → drawn, one cycle back through the past, {nodes:,} nodes, from rest (p50 / p95)",
        f"{cuts[9]:.0f} / {cuts[18]:.0f} ms",
        "25 ms",
    )


def script_per_frame(browser: Browser, page: Page, nodes: int, wanted: float) -> list[Figure]:
    """The CPU time of scripts in the main thread between two frames, while the session is played at 12×."""
    play(page, "12×")
    costs: list[float] = []
    begun = time.monotonic()
    first = event_of(page)
    # A busy machine draws few frames, so their number is reported with the figure.
    while time.monotonic() - begun < wanted:
        browser.start_tracing(page=page, categories=trace.CATEGORIES)
        page.wait_for_timeout(SLICE_SECONDS * 1000)
        made = trace.script_millis(browser.stop_tracing())
        if not made:
            raise RuntimeError("no frame was drawn: does the session play?")
        costs += made
    seconds, events = time.monotonic() - begun, event_of(page) - first
    page.keyboard.press("Space")
    cuts = statistics.quantiles(costs, n=100)
    what = f"script per frame while playing at 12×, {nodes:,} nodes in view, {len(costs):,} frames in {seconds:.0f} s"
    return [
        Figure(f"{what} (p50 / p95 / p99, CPU time)", f"{cuts[49]:.1f} / {cuts[94]:.1f} / {cuts[98]:.1f} ms", "p95 ≤ 8 ms"),
        Figure("the same per 1,000 events that were folded and drawn", f"{sum(costs) / events * 1000:.0f} ms"),
    ]


def frames_per_second(page: Page, nodes: int) -> Figure:
    """Frames per second with all animations: at 2× pods travel."""
    play(page, "2×")
    times: list[float] = page.evaluate(COUNT, 10)
    page.keyboard.press("Space")
    gaps = sorted(after - before for before, after in pairwise(times))
    rate = (len(times) - 1) / (times[-1] - times[0]) * 1000
    return Figure(
        f"frames per second while playing at 2×, {nodes:,} nodes (p95 between two)",
        f"{rate:.0f} ({gaps[int(len(gaps) * 0.95)]:.0f} ms)",
        "60",
    )


def memory(page: Page, devtools: CDPSession, nodes: int, minutes: float) -> Figure:
    """The heap after a long playback at 12× compared with the heap after one minute of it, after garbage collection."""
    begun, first = time.monotonic(), cycle_of(page)
    play(page, "50 cycles/s")
    early = late = 0.0
    cycles = 0
    while cycles < minutes * CYCLES_A_MINUTE and time.monotonic() - begun < MAX_SECONDS:
        page.wait_for_timeout(500)
        cycles = cycle_of(page) - first
        if not early and cycles >= CYCLES_A_MINUTE:
            early = heap(devtools)
    late = heap(devtools)
    page.keyboard.press("Space")
    return Figure(
        f"heap after {cycles:,} cycles ({cycles / CYCLES_A_MINUTE:.1f} minutes of 12×, played in {time.monotonic() - begun:.0f} s), against after "
        f"{CYCLES_A_MINUTE} (one minute), {nodes:,} nodes",
        f"{late / early:.2f} ({early / 1e6:.0f} → {late / 1e6:.0f} MB)",
        "≤ 1.3",
    )


def event_of(page: Page) -> int:
    return int(page.locator("[data-event]").first.get_attribute("data-event") or 0)


def cycle_of(page: Page) -> int:
    return int(page.locator("[data-cycle]").first.get_attribute("data-cycle") or 0)


def heap(devtools: CDPSession) -> float:
    devtools.send("HeapProfiler.collectGarbage")
    return float(devtools.send("Runtime.getHeapUsage")["usedSize"])


def play(page: Page, speed: str) -> None:
    page.get_by_label("Speed").select_option(label=speed)
    # The page handles keys while no element has the focus.
    page.evaluate("document.activeElement?.blur()")
    before = page.locator("[data-event]").first.get_attribute("data-event")
    page.keyboard.press("Space")
    page.wait_for_function("before => document.querySelector('[data-event]').dataset.event !== before", arg=before, timeout=60_000)


def measure(server: Server, options: argparse.Namespace) -> list[Figure]:
    figures = first_load()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium, args=list(FLAGS))
        login = browser.new_context()
        page = login.new_page()
        page.goto(login_link(server))
        page.evaluate(ALL_DETAILS)
        state = login.storage_state()
        context = browser.new_context(viewport=WINDOW, storage_state=state)
        sessions = [(4, 12, "demo"), (500, 5000, "mixed"), (options.nodes, options.pods, "mixed")]
        small, middle, large = (
            server.create(json={"generate": {"shape": shape, "nodes": nodes, "pods": pods}})[0] for nodes, pods, shape in sessions
        )
        figures.append(first_paint(browser, state, server, small))
        print_figures(figures[-1:])
        page = open_page(context, server, middle)
        figures += [*key_to_picture(page, 500), past_to_picture(page, 500), frames_per_second(page, 500)]
        page.close()
        print_figures(figures[-6:])
        page = open_page(context, server, large)
        figures += key_to_picture(page, options.nodes)
        figures.append(past_to_picture(page, options.nodes))
        figures += script_per_frame(browser, page, options.nodes, options.seconds)
        print_figures(figures[-7:])
        if options.minutes:
            figures.append(memory(page, context.new_cdp_session(page), options.nodes, options.minutes))
        browser.close()
    return figures


def write(figures: list[Figure], load: str) -> None:
    rows = [f"| {figure.what} | {figure.measured} | {figure.goal} |" for figure in figures]
    text = DOCUMENT.read_text("utf-8")
    begin, end = "<!-- measured: begin -->", "<!-- measured: end -->"
    before, rest = text.split(begin, 1)
    lines = ["| what | measured | goal |", "|---|---|---|", *rows, "", load]
    DOCUMENT.write_text(f"{before}{begin}\n" + "\n".join(lines) + f"\n{end}{rest.split(end, 1)[1]}", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=90, help="of the play whose script time is measured")
    parser.add_argument("--minutes", type=float, default=10, help="of the play whose heap is measured; 0: leave it out")
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--pods", type=int, default=50_000)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    began = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="schedviz-page-") as folder, Server(Path(folder)) as server:
        figures = measure(server, options)
    print_figures(figures)
    load = f"Two cores; load average {began:.1f} at the start, {os.getloadavg()[0]:.1f} at the end; {time.strftime('%Y-%m-%d')}."
    if options.write:
        write(figures, load)


if __name__ == "__main__":
    main()
