"""Takes pictures of every view, to be looked at: `make pictures`.

.venv/bin/python -m tests.pictures [--out build/pictures] [--only PART] [--docs]
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.e2e.conftest import FLAGS, Server
from tests.pictures.shots import every_shot
from tests.pictures.studio import Studio
from tests.pictures.tour import take_tour
from tests.up.running import starter


@contextmanager
def studio() -> Iterator[Studio]:
    """A studio of its own."""
    folder = Path(tempfile.mkdtemp(prefix="schedviz-pictures-"))
    data = folder / "data"
    command = [sys.executable, "-m", "schedviz.cli.main", "up", "--port", "0", "--data", str(data), "--no-open"]
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        for start in starter(folder, lambda _: command):
            server = Server(start(), data)
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
                signed_in = browser.new_context()
                signed_in.new_page().goto(server.login)
                taken = Studio(server, browser, signed_in)
                yield taken
                taken.close()
                browser.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("build/pictures"))
    parser.add_argument("--only", default="", help="those whose name matches this")
    parser.add_argument("--docs", action="store_true", help="write the pictures of the README and of docs/tour.md again")
    options = parser.parse_args()
    out: Path = options.out
    with studio() as room:
        if options.docs:
            take_tour(room, options.only)
            return
        out.mkdir(parents=True, exist_ok=True)
        for shot in every_shot():
            if not re.search(options.only, shot.name):
                continue
            with room.open(shot) as taken:
                picture = taken.screenshot(full_page=shot.width < 400)
            (out / f"{shot.name}.png").write_bytes(picture)
            sys.stdout.write(f"{shot.name}\n")


if __name__ == "__main__":
    main()
