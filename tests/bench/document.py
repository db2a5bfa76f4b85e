"""docs/performance.md, made of docs/performance.json: measured figures beside their goals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from schedviz.cli.bench.importing import ImportRow
from schedviz.cli.bench.measure import Row
from schedviz.cli.bench.plot import svg
from tests.bench.frames import FrameRow
from tests.bench.pairs import Pairs
from tests.bench.report import Figure

DOCUMENT, MEASURED, PICTURE = Path("docs/performance.md"), Path("docs/performance.json"), Path("docs/pictures/cost.svg")
#: The calibration at 5,000 nodes of the machine on which goals in milliseconds and seconds were set.
REFERENCE_MS = 0.08


#: Goals of imports are of so many pods.
_GOAL_PODS = 50_000


class Measured(msgspec.Struct):
    """What was measured, and how busy the machine was meanwhile (load average), by section."""

    load: dict[str, str] = {}
    product: list[Figure] = []
    cycles: list[Row] = []
    pairs: Pairs | None = None
    #: One workload with more pods that run, and with more nodes that change.
    sweeps: list[Row] = []
    imports: list[ImportRow] = []
    frames: list[FrameRow] = []


def read() -> Measured:
    """What was measured before."""
    return msgspec.json.decode(MEASURED.read_bytes(), type=Measured) if MEASURED.exists() else Measured()


def write(measured: Measured) -> None:
    """Keep what was measured, say it in the document, and draw it."""
    MEASURED.write_bytes(msgspec.json.format(msgspec.json.encode(measured)) + b"\n")
    DOCUMENT.write_text(filled(DOCUMENT.read_text("utf-8"), measured), "utf-8")
    PICTURE.write_text(svg([*measured.cycles, *measured.sweeps]), "utf-8")


def filled(text: str, measured: Measured) -> str:
    """The document with what was measured between its marks."""
    for section, lines in (
        ("product", _product(measured)),
        ("goals", _goals(measured)),
        ("cycles", _cycles(measured.cycles)),
        ("shares", _shares(measured.cycles)),
        ("imports", _imports(measured.imports)),
        ("frames", _frames(measured.frames)),
        ("load", [f"- {name}: {load}" for name, load in measured.load.items()]),
    ):
        begin, end = f"<!-- {section}: begin -->", f"<!-- {section}: end -->"
        before, rest = text.split(begin, 1)
        text = f"{before}{begin}\n" + "\n".join(lines) + f"\n{end}{rest.split(end, 1)[1]}"
    return text


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    return [f"| {' | '.join(map(str, row))} |" for row in (head, ["---"] * len(head), *rows)]


def _product(measured: Measured) -> list[str]:
    return _table(("what", "measured", "goal"), [(figure.what, figure.measured, figure.goal) for figure in measured.product])


def _goals(measured: Measured) -> list[str]:
    return _table(("what", "goal", "measured", "met"), list(_goal_rows(measured)))


def _goal_rows(measured: Measured) -> Iterator[tuple[str, str, str, str]]:
    rows = {(row.workload, row.nodes, row.every_node): row for row in measured.cycles}

    def at(name: str, nodes: int) -> Row | None:
        return rows.get((name, nodes, True))

    def ratio(what: str, name: str, most: float) -> Iterator[tuple[str, str, str, str]]:
        if (row := at(name, 5000)) is not None:
            yield what, f"≤ {most:g} × calibration", f"{row.ratio:g} × ({row.p50_ms:.2f} ms)", _met(row.ratio <= most)

    yield from ratio("cycle, basic, 5,000 nodes, every node, summary recorded", "basic", 5)
    for name, words in (
        ("spread", "hard spread"),
        ("spread-soft", "soft spread"),
        ("preferred", "preferred affinity"),
        ("affinity", "required affinity"),
    ):
        yield from ratio(f"the same, {words}", name, 10)
    preempt, big, bigger = at("preempt", 500), at("basic", 5000), at("basic", 15000)
    if preempt is not None and big is not None:
        there = preempt.p50_ms / big.calibration_ms * REFERENCE_MS
        yield (
            "preempting cycle, 500 nodes",
            "≤ 4 ms at the reference",
            f"{there:.1f} ms there ({preempt.p50_ms:.1f} ms here)",
            _met(there <= 4),
        )
    if measured.pairs is not None:
        cycle, update = measured.pairs.recordings, measured.pairs.snapshots
        yield "recording summary against off", "≤ 1.15 ×", f"{cycle.ratio:.2f} ×", _met(cycle.ratio <= 1.15)
        what = "update_snapshot, one dirty node, 15,000 against 100 nodes"
        yield what, "≤ 1.3 ×", f"{update.ratio:.2f} × ({update.other_us:.1f} against {update.one_us:.1f} µs)", _met(update.ratio <= 1.3)
    if bigger is not None and big is not None:
        more = bigger.p50_ms / big.p50_ms
        yield "cycle at 15,000 against 5,000 nodes", "≤ 3.2 ×", f"{more:.2f} ×", _met(more <= 3.2)
    for row in measured.imports:
        yield from _import_goals(row)


def _import_goals(row: ImportRow) -> Iterator[tuple[str, str, str, str]]:
    seconds, megabytes = (3, 900) if row.form == "json" else (40, 700)
    if row.pods != _GOAL_PODS:
        # The time grows with the pods, memory does not: goals of memory, and of checkpoints, are of the whole size alone.
        seconds *= row.pods / _GOAL_PODS
    there = REFERENCE_MS / row.calibration_ms
    what = f"import {row.nodes:,} nodes, {row.pods:,} pods, {row.form.upper()} ({row.text_mb:,.0f} MB)"
    read = row.read_seconds * there
    yield what, f"≤ {seconds:g} s at the reference", f"{read:.1f} s there ({row.read_seconds:.1f} s here)", _met(read <= seconds)
    if row.pods != _GOAL_PODS:
        return
    yield f"peak RSS of it, {row.form.upper()}", f"≤ {megabytes} MB", f"{row.read_peak_mb:,.0f} MB", _met(row.read_peak_mb <= megabytes)
    if row.form == "json":
        for words, value, most in (("write", row.checkpoint_write_ms, 300), ("read", row.checkpoint_read_ms, 500)):
            taken = value * there
            yield (
                f"checkpoint of that session: {words}",
                f"≤ {most} ms at the reference",
                f"{taken:,.0f} ms there ({value:,.0f} ms here)",
                _met(taken <= most),
            )
        yield "its size, packed", "≤ 8 MB", f"{row.checkpoint_mb:.1f} MB", _met(row.checkpoint_mb <= 8)
        yield "memory of the engine with it", "≤ 300 MB", f"{row.engine_mb:,.0f} MB", _met(row.engine_mb <= 300)


def _met(is_met: bool) -> str:  # noqa: FBT001  (a value, no switch)
    return "yes" if is_met else "**no**"


def _cycles(rows: Sequence[Row]) -> list[str]:
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
        if row.nodes == 5000 and row.every_node:
            stages, plugins = (
                ", ".join(f"{name} {share:.0%}" for name, share in list(shares.items())[:6]) for shares in (row.stages, row.plugins)
            )
            lines.append((row.workload, stages, plugins))
    return _table(("workload", "stages", "plugins"), lines)


def _imports(rows: Sequence[ImportRow]) -> list[str]:
    head = ("dump", "read", "peak", "load", "engine", "checkpoint: first", "write", "read", "size", "calibration")
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
    head = ("nodes", "frame", "of JSON", "made in")
    return _table(
        head, [(f"{row.nodes:,}", f"{row.bytes_p50:,.0f} B", f"{row.json_bytes_p50:,.0f} B", f"{row.encode_ms_p50:.2f} ms") for row in rows]
    )
