"""The wheel of this schedviz: built from its checkout, or repacked from the installed files."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from email.parser import HeaderParser
from importlib.metadata import distribution
from pathlib import Path

import schedviz
from schedviz.cli.kit import repacked_wheels

_PAGE = Path(schedviz.__file__).parent / "web/static/app/.vite/manifest.json"
_CHECKOUT = Path(schedviz.__file__).parent.parent


class NotBuilt(Exception):
    """A prerequisite of the wheel is missing."""


def write(folder: Path) -> Path:
    """Write the wheel into a folder. Raises `NotBuilt`."""
    if not _PAGE.is_file():
        raise NotBuilt("The front end is not built: run `make setup` first.")
    if (_CHECKOUT / "hatch_build.py").is_file():
        return _build(folder)
    return repacked_wheels.pack(distribution("schedviz"), folder)


def requirements(wheel: Path) -> list[str]:
    """The requirements in a wheel's metadata."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return HeaderParser().parsestr(archive.read(name).decode()).get_all("Requires-Dist", [])


def _build(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation"]
    done = subprocess.run([*command, "--wheel-dir", str(folder), str(_CHECKOUT)], capture_output=True, text=True, check=False)  # noqa: S603
    made = next(folder.glob("schedviz-*.whl"), None)
    if done.returncode != 0 or made is None:
        raise NotBuilt(f"Cannot build the wheel of schedviz: {done.stderr.strip()}")
    return made
