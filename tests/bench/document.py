"""The pages with measured figures: the log docs/measurements/performance.md, and its one-page summary docs/performance.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from schedviz.cli.bench.importing import ImportRow
from schedviz.cli.bench.measure import Row
from schedviz.cli.bench.plot import svg
from schedviz.trace.releases import DEFAULT_RELEASE, RELEASES
from tests.bench.frames import FrameRow
from tests.bench.pairs import Pairs
from tests.bench.report import Figure

LOG, SUMMARY = Path("docs/measurements/performance.md"), Path("docs/performance.md")
MEASURED, PICTURE = Path("docs/measurements/performance.json"), Path("docs/pictures/cost.svg")
#: The calibration at 5,000 nodes of the machine on which goals in milliseconds and seconds were set.
REFERENCE_MS = 0.08


#: The number of pods in the goals of imports.
_GOAL_PODS = 50_000

#: The markers around a section.
Section = Callable[["Measured"], list[str]]


class Measured(msgspec.Struct):
    """The figures by section, and the load average during their measurement."""

    load: dict[str, str] = {}
    product: list[Figure] = []
    cycles: list[Row] = []
    pairs: Pairs | None = None
    #: One workload with more running pods, and with more changed nodes.
    sweeps: list[Row] = []
    imports: list[ImportRow] = []
    frames: list[FrameRow] = []


def read() -> Measured:
    """The stored figures."""
    return msgspec.json.decode(MEASURED.read_bytes(), type=Measured) if MEASURED.exists() else Measured()


def write(measured: Measured) -> None:
    """Store the figures, and update the pages and the plot."""
    MEASURED.write_bytes(msgspec.json.format(msgspec.json.encode(measured)) + b"\n")
    for page, sections in SECTIONS.items():
        page.write_text(filled(page.read_text("utf-8"), measured, sections), "utf-8")
    PICTURE.write_text(svg(plotted(measured)), "utf-8")


def plotted(measured: Measured) -> list[Row]:
    """The rows of the plot: those of the default release."""
    return [row for row in (*measured.cycles, *measured.sweeps) if row.release == DEFAULT_RELEASE]


def filled(text: str, measured: Measured, sections: Mapping[str, Section]) -> str:
    """The page with the figures between the markers of its sections."""
    for section, lines in sections.items():
        begin, end = f"<!-- {section}: begin -->", f"<!-- {section}: end -->"
        before, rest = text.split(begin, 1)
        text = f"{before}{begin}\n" + "\n".join(lines(measured)) + f"\n{end}{rest.split(end, 1)[1]}"
    return text


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    return [f"| {' | '.join(map(str, row))} |" for row in (head, ["---"] * len(head), *rows)]


def _load(measured: Measured) -> list[str]:
    return _table(("section", "load average"), list(measured.load.items()))


def _product(measured: Measured) -> list[str]:
    return _table(("what", "measured", "goal"), [(figure.what, figure.measured, figure.goal) for figure in measured.product])


def _summary(measured: Measured) -> list[str]:
    return _table(("what", "time", "size"), list(_summary_rows(measured)))


def _summary_rows(measured: Measured) -> Iterator[tuple[str, str, str]]:
    rows = _by_conditions(measured.cycles)
    for what, name, nodes in (
        ("scheduling cycle, 100 nodes", "basic", 100),
        ("scheduling cycle, 5,000 nodes", "basic", 5000),
        ("scheduling cycle, 15,000 nodes", "basic", 15000),
        ("scheduling cycle with preemption, 500 nodes", "preempt", 500),
    ):
        if (row := rows.get((name, nodes, True))) is not None:
            yield what, f"{row.p50_ms:.2f} ms", ""
    for imported in measured.imports:
        what = f"import of {imported.nodes:,} nodes and {imported.pods:,} pods, {imported.form.upper()}"
        yield what, f"{imported.read_seconds:.1f} s", f"{imported.read_peak_mb:,.0f} MB of memory"
    for imported in measured.imports:
        if imported.form == "json":
            yield "a session of that size in a worker", "", f"{imported.engine_mb:,.0f} MB of memory"
            yield "checkpoint of that session", f"{imported.checkpoint_write_ms:,.0f} ms", f"{imported.checkpoint_mb:.1f} MB"
    for frame in measured.frames:
        if frame.nodes == 5000:
            yield "frame of one cycle, 5,000 nodes", f"{frame.encode_ms_p50:.2f} ms", f"{frame.bytes_p50:,.0f} B"
    yield from ((figure.what, figure.measured, "") for figure in measured.product if figure.what.startswith("command → frame"))


def _goals(measured: Measured) -> list[str]:
    return _table(("what", "goal", "measured", "met"), list(_goal_rows(measured)))


def _goal_rows(measured: Measured) -> Iterator[tuple[str, str, str, str]]:
    rows = _by_conditions(measured.cycles)

    def at(name: str, nodes: int) -> Row | None:
        return rows.get((name, nodes, True))

    def ratio(what: str, name: str, most: float) -> Iterator[tuple[str, str, str, str]]:
        if (row := at(name, 5000)) is not None:
            yield what, f"≤ {most:g} × calibration", f"{row.ratio:g} × ({row.p50_ms:.2f} ms)", _met(row.ratio <= most)

    yield from ratio("cycle, basic, 5,000 nodes, every node, summary recorded", "basic", 5)
    for name, words in (
        ("spread", "hard topology spread"),
        ("spread-soft", "soft topology spread"),
        ("preferred", "preferred affinity"),
        ("affinity", "required affinity"),
    ):
        yield from ratio(f"cycle, {words}, the same conditions", name, 10)
    preempt, big, bigger = at("preempt", 500), at("basic", 5000), at("basic", 15000)
    if preempt is not None and big is not None:
        there = preempt.p50_ms / big.calibration_ms * REFERENCE_MS
        yield (
            "preempting cycle, 500 nodes",
            "≤ 4 ms scaled",
            f"{there:.1f} ms scaled ({preempt.p50_ms:.1f} ms measured)",
            _met(there <= 4),
        )
    if measured.pairs is not None:
        cycle, update = measured.pairs.recordings, measured.pairs.snapshots
        yield "recording, summary compared with off", "≤ 1.15 ×", f"{cycle.ratio:.2f} ×", _met(cycle.ratio <= 1.15)
        what = "update_snapshot with one changed node, 15,000 compared with 100 nodes"
        yield what, "≤ 1.3 ×", f"{update.ratio:.2f} × ({update.other_us:.1f} and {update.one_us:.1f} µs)", _met(update.ratio <= 1.3)
    if bigger is not None and big is not None:
        more = bigger.p50_ms / big.p50_ms
        yield "cycle, 15,000 compared with 5,000 nodes", "≤ 3.2 ×", f"{more:.2f} ×", _met(more <= 3.2)
    for row in measured.imports:
        yield from _import_goals(row)


def _import_goals(row: ImportRow) -> Iterator[tuple[str, str, str, str]]:
    seconds, megabytes = (3, 900) if row.form == "json" else (40, 700)
    if row.pods != _GOAL_PODS:
        # Time grows with the number of pods, memory does not: goals for memory and checkpoints apply to the full size only.
        seconds *= row.pods / _GOAL_PODS
    there = REFERENCE_MS / row.calibration_ms
    what = f"import {row.nodes:,} nodes, {row.pods:,} pods, {row.form.upper()} ({row.text_mb:,.0f} MB)"
    read = row.read_seconds * there
    yield what, f"≤ {seconds:g} s scaled", f"{read:.1f} s scaled ({row.read_seconds:.1f} s measured)", _met(read <= seconds)
    if row.pods != _GOAL_PODS:
        return
    yield (
        f"peak RSS of the {row.form.upper()} import",
        f"≤ {megabytes} MB",
        f"{row.read_peak_mb:,.0f} MB",
        _met(row.read_peak_mb <= megabytes),
    )
    if row.form == "json":
        for words, value, most in (("write", row.checkpoint_write_ms, 300), ("read", row.checkpoint_read_ms, 500)):
            taken = value * there
            yield (
                f"checkpoint of that session, {words}",
                f"≤ {most} ms scaled",
                f"{taken:,.0f} ms scaled ({value:,.0f} ms measured)",
                _met(taken <= most),
            )
        yield "checkpoint of that session, compressed size", "≤ 8 MB", f"{row.checkpoint_mb:.1f} MB", _met(row.checkpoint_mb <= 8)
        yield "memory of the engine with that session", "≤ 300 MB", f"{row.engine_mb:,.0f} MB", _met(row.engine_mb <= 300)


def _met(is_met: bool) -> str:  # noqa: FBT001  (a value, no switch)
    return "yes" if is_met else "**no**"


def _by_conditions(rows: Sequence[Row]) -> dict[tuple[str, int, bool], Row]:
    """The rows of the default release, for which the goals were set, by workload, nodes, and whether every node is scored."""
    return {(row.workload, row.nodes, row.every_node): row for row in rows if row.release == DEFAULT_RELEASE}


def _cycles(rows: Sequence[Row]) -> list[str]:
    """A table for each release."""
    tables = [(release, [row for row in rows if row.release == release]) for release in RELEASES]
    return [line for release, own in tables if own for line in (f"kube-scheduler {release}:", "", *_cycles_of_a_release(own), "")][:-1]


def _cycles_of_a_release(rows: Sequence[Row]) -> list[str]:
    sizes = sorted({row.nodes for row in rows})
    names = list(dict.fromkeys((row.workload, row.every_node) for row in rows))
    by_place = {(row.workload, row.every_node, row.nodes): row for row in rows}
    lines = []
    for name, every_node in names:
        cells = [by_place.get((name, every_node, nodes)) for nodes in sizes]
        shown = [f"{row.p50_ms:.2f} ms · {row.ratio:g} × · {row.pods_per_second:,.0f}/s" if row else "" for row in cells]
        lines.append((name if every_node else f"{name}, default sampling", *shown))
    return _table(("workload", *(f"{nodes:,} nodes" for nodes in sizes)), lines)


def _shares(rows: Sequence[Row]) -> list[str]:
    lines = []
    for row in rows:
        if row.nodes == 5000 and row.every_node and row.release == DEFAULT_RELEASE:
            stages, plugins = (
                ", ".join(f"{name} {share:.0%}" for name, share in list(shares.items())[:6]) for shares in (row.stages, row.plugins)
            )
            lines.append((row.workload, stages, plugins))
    return _table(("workload", "stages", "plugins"), lines)


def _imports(rows: Sequence[ImportRow]) -> list[str]:
    head = (
        *("dump", "import", "peak RSS", "load", "engine memory"),
        *("first checkpoint", "checkpoint write", "checkpoint read", "checkpoint size", "calibration"),
    )
    lines = [
        (
            f"{row.form}, {row.text_mb:,.0f} MB",
            f"{row.read_seconds:.1f} s",
            f"{row.read_peak_mb:,.0f} MB",
            f"{row.load_seconds:.1f} s",
            f"{row.engine_mb:,.0f} MB",
            f"{row.checkpoint_first_ms:,.0f} ms",
            f"{row.checkpoint_write_ms:,.0f} ms",
            f"{row.checkpoint_read_ms:,.0f} ms",
            f"{row.checkpoint_mb:.1f} MB",
            f"{row.calibration_ms:.3f} ms",
        )
        for row in rows
    ]
    return _table(head, lines)


def _frames(rows: Sequence[FrameRow]) -> list[str]:
    head = ("nodes", "frame", "as JSON", "encoding time")
    return _table(
        head, [(f"{row.nodes:,}", f"{row.bytes_p50:,.0f} B", f"{row.json_bytes_p50:,.0f} B", f"{row.encode_ms_p50:.2f} ms") for row in rows]
    )


#: The sections of each page.
SECTIONS: Final[dict[Path, dict[str, Section]]] = {
    SUMMARY: {"summary": _summary},
    LOG: {
        "product": _product,
        "goals": _goals,
        "cycles": lambda measured: _cycles(measured.cycles),
        "shares": lambda measured: _shares(measured.cycles),
        "imports": lambda measured: _imports(measured.imports),
        "frames": lambda measured: _frames(measured.frames),
        "load": _load,
    },
}
