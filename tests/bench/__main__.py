"""Measure start-up, import, the way from a command to its frame, and the page's size, against a real `schedviz up`.

    .venv/bin/python -m tests.bench [--write] [FILE...]

FILEs are dumps to import (all in one session). `--write` puts the figures into docs/performance.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.bench import bundle, importing, round_trip
from tests.bench.report import Figure, print_figures, write_figures
from tests.bench.server import Server


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    figures: list[Figure] = [bundle.first_load()]
    with tempfile.TemporaryDirectory(prefix="schedviz-bench-") as folder:
        Server.run_once(Path(folder))  # The first start makes the database; what is measured is the second.
        with Server(Path(folder)) as server:
            figures += server.start_up()
            figures += importing.generated(server, nodes=1500, pods=8000)
            if options.files:
                figures += importing.files(server, options.files)
            figures += round_trip.steps(server, nodes=4)
            figures += round_trip.steps(server, nodes=1500)
    print_figures(figures)
    if options.write:
        write_figures(figures, Path("docs/performance.md"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
