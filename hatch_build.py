"""Builds the front end into wheels and sdists that are made from a tree without it, and puts docs/ into wheels."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: The page, and the script of reports.
BUILT = (Path("schedviz/web/static/app/.vite/manifest.json"), Path("schedviz/experiments/report/built/report.js"))

NPM_IS_MISSING = """
schedviz: the page of schedviz is not built in this source tree, and npm, which builds it, is not on PATH.
Install Node.js 20.19 or newer (https://nodejs.org/en/download) and run pip again,
or install a released wheel or sdist: both bring the built page with them.
"""


class FrontEndHook(BuildHookInterface):  # type: ignore[type-arg]
    """Runs `npm ci` and `npm run build` once, when the built files are missing. An editable install leaves that to `make setup`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        if self.target_name == "wheel" and version != "editable" and (root / "docs").is_dir():
            build_data["force_include"][str(root / "docs")] = "schedviz/web/documentation/docs"
        if version == "editable" or all((root / built).is_file() for built in BUILT):
            return
        npm = shutil.which("npm")
        if npm is None:
            sys.exit(NPM_IS_MISSING)
        for step in (["ci", "--no-audit", "--no-fund", "--loglevel=error"], ["run", "build"]):
            done = subprocess.run([npm, *step], cwd=root / "frontend", check=False, stdout=sys.stderr)  # noqa: S603
            if done.returncode != 0:
                sys.exit(f"\nschedviz: building the page failed: npm {' '.join(step)} ended with {done.returncode}; its words are above.\n")
