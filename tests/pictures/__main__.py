"""Takes pictures of every view for review, and compares forty of them with their references: `make pictures`.

.venv/bin/python -m tests.pictures [--out build/pictures] [--only PART] [--references] [--accept] [--docs]
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from playwright.sync_api import sync_playwright

from tests.e2e.conftest import FLAGS, Server
from tests.pictures.comparing import PictureComparer, size_of
from tests.pictures.references import Comparison, accept, compare, drop_all_but, write_differences
from tests.pictures.shots import every_shot, reference_shots
from tests.pictures.still import FLAGS as STILL
from tests.pictures.still import picture_of, surroundings
from tests.pictures.studio import Studio
from tests.pictures.tour import take_tour
from tests.up.running import starter

PHONE: Final = 400


@contextmanager
def studio(flags: Sequence[str]) -> Iterator[tuple[Studio, PictureComparer]]:
    """A new studio, and the comparison of its pictures."""
    folder = Path(tempfile.mkdtemp(prefix="schedviz-pictures-"))
    data = folder / "data"
    command = [sys.executable, "-m", "schedviz.cli.main", "up", "--port", "0", "--data", str(data), "--no-open"]
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        for start in starter(folder, lambda _: command):
            server = Server(start(), data)
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium, args=[*FLAGS, *flags], env=surroundings())
                signed_in = browser.new_context()
                signed_in.new_page().goto(server.login)
                taken = Studio(server, browser, signed_in)
                yield taken, PictureComparer(browser.new_page())
                taken.close()
                browser.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("build/pictures"))
    parser.add_argument("--only", default="", help="those whose name matches this")
    parser.add_argument("--references", action="store_true", help="only those that have a reference")
    parser.add_argument("--accept", action="store_true", help="write the references again instead of comparing with them")
    parser.add_argument("--docs", action="store_true", help="write the pictures of the README and of docs/tour.md again")
    parser.add_argument("--flag", action="append", default=[], help="one more for Chromium, such as --flag=--disable-lcd-text")
    options = parser.parse_args()
    out: Path = options.out
    with studio([*STILL, *options.flag]) as (room, comparer):
        if options.docs:
            take_tour(room, options.only)
            return 0
        out.mkdir(parents=True, exist_ok=True)
        references = {shot.name for shot in reference_shots()}
        shots = [
            shot
            for shot in every_shot()
            if re.search(options.only, shot.name) and (shot.name in references or not (options.references or options.accept))
        ]
        if options.accept:
            drop_all_but(references)
        comparisons: list[Comparison] = []
        sizes: dict[str, tuple[int, int]] = {}
        for shot in shots:
            with room.open(shot, still=shot.name in references) as taken:
                picture = picture_of(taken, whole=shot.width < PHONE)
            (out / f"{shot.name}.png").write_bytes(picture)
            line = shot.name
            if shot.name in references:
                if options.accept:
                    accept(comparer, shot.name, picture)
                compared = compare(comparer, shot.name, picture)
                comparisons.append(compared)
                sizes[shot.name] = size_of(picture)
                line = str(compared)
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
    return _report_differences(out, comparisons, sizes)


def _report_differences(out: Path, comparisons: list[Comparison], sizes: dict[str, tuple[int, int]]) -> int:
    """Print the differences. Returns 1 if there are any."""
    page = out / "differences.html"
    write_differences(page, comparisons, sizes)
    differing = [comparison for comparison in comparisons if not comparison.alike]
    if not differing:
        sys.stdout.write(f"\n{len(comparisons)} pictures look like their references; all are in {out}\n")
        return 0
    sys.stdout.write(
        f"\n{len(differing)} of {len(comparisons)} pictures differ from their references: look at {page}, and then `make pictures ACCEPT=1` if they should\n"
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
