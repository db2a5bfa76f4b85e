"""Measure and write all figures of the performance pages: start-up, imports, the latency from a command to its frame and the size of the
page (with a real `schedviz up`), and the engine alone.

    .venv/bin/python -m tests.bench [--only SECTION]... [--write] [FILE...]

Sections: product, cycles, pairs, sweeps, imports, frames. FILEs are dumps to import through the server (all in one session). `--write` stores
the figures in docs/measurements/performance.json and writes docs/measurements/performance.md and docs/performance.md from it; sections
that were not measured keep their figures. `--only none` measures nothing and writes the pages again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from schedviz.cli.bench.table import print_imports, print_rows
from tests.bench import bundle, document, during_experiment, engine, frames, importing, pairs, round_trip
from tests.bench.report import Figure, print_figures
from tests.bench.server import Server

SECTIONS = ("product", "cycles", "pairs", "sweeps", "imports", "frames")


def product(files: list[Path]) -> list[Figure]:
    """Measure a running server."""
    figures: list[Figure] = bundle.first_load()
    with tempfile.TemporaryDirectory(prefix="schedviz-bench-") as folder:
        Server.run_once(Path(folder))  # The first start creates the database; the second is measured.
        with Server(Path(folder)) as server:
            figures += server.start_up()
            figures += importing.generated(server, nodes=1500, pods=8000)
            if files:
                figures += importing.files(server, files)
            figures += round_trip.steps(server, nodes=4)
            figures += round_trip.steps(server, nodes=1500)
            figures += round_trip.viewers(server, nodes=100)
            figures += during_experiment.steps(server, nodes=1500)
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--only", action="append", choices=(*SECTIONS, "none"))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    measured = document.read()
    for section in options.only or SECTIONS:
        if section != "none":
            _measure(section, measured, options.files, write=options.write)
    if options.write:
        document.write(measured)
    return 0


def _measure(section: str, measured: document.Measured, files: list[Path], *, write: bool) -> None:
    """Measure a section. Figures are stored row by row, since all sections take an hour."""
    load = engine.load_average()

    def keep() -> None:
        measured.load[section] = f"{load} at the start, {engine.load_average()} at the end"
        if write:
            document.write(measured)

    match section:
        case "product":
            measured.product = product(files)
            print_figures(measured.product)
        case "cycles":
            for row in engine.cycles():
                measured.cycles = [
                    *(other for other in measured.cycles if not (row.is_of_the_same_as(other) and row.release == other.release)),
                    row,
                ]
                print_rows([row])
                keep()
        case "pairs":
            measured.pairs = pairs.pairs()
            sys.stdout.write(f"{measured.pairs}\n")
        case "sweeps":
            measured.sweeps = engine.sweeps()
            print_rows(measured.sweeps)
        case "imports":
            for imported in engine.imports():
                measured.imports = [*(other for other in measured.imports if other.form != imported.form), imported]
                print_imports([imported])
                keep()
        case "frames":
            measured.frames = [frames.frames(nodes) for nodes in (100, 1000, 5000)]
    keep()


if __name__ == "__main__":
    sys.exit(main())
