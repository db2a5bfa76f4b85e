"""The wheel of this very schedviz: built of the checkout that it runs from, or packed again of the files that were installed."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import zipfile
from email.parser import HeaderParser
from importlib.metadata import Distribution, distribution
from pathlib import Path

import schedviz

_PAGE = Path(schedviz.__file__).parent / "web/static/app/.vite/manifest.json"
_CHECKOUT = Path(schedviz.__file__).parent.parent
#: What the installer wrote, not the wheel.
_OF_THE_INSTALLER = {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"}


class NotBuilt(Exception):  # noqa: N818 (it is read as a sentence)
    """There is something missing that a wheel needs."""


def write(folder: Path) -> Path:
    """Write the wheel into a folder. Raises `NotBuilt`."""
    if not _PAGE.is_file():
        raise NotBuilt("The page is not built: run `make setup` first.")
    if (_CHECKOUT / "hatch_build.py").is_file():
        return _build(folder)
    return _pack(distribution("schedviz"), folder)


def requirements(wheel: Path) -> list[str]:
    """What a wheel says that it needs."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return HeaderParser().parsestr(archive.read(name).decode()).get_all("Requires-Dist", [])


def _build(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation"]
    done = subprocess.run([*command, "--wheel-dir", str(folder), str(_CHECKOUT)], capture_output=True, text=True, check=False)  # noqa: S603
    made = next(folder.glob("schedviz-*.whl"), None)
    if done.returncode != 0 or made is None:
        raise NotBuilt(f"The wheel of schedviz cannot be built: {done.stderr.strip()}")
    return made


def _pack(installed: Distribution, folder: Path) -> Path:
    """A wheel is a zip of the files that are installed, with a list of their digests."""
    path = folder / f"schedviz-{installed.version}-py3-none-any.whl"
    listed: list[str] = []
    record = ""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for file in sorted(installed.files or [], key=str):
            if file.parts[0].endswith(".dist-info"):
                record = f"{file.parts[0]}/RECORD"
            # Scripts lie outside, and are made of the entry points again.
            if ".." in file.parts or "__pycache__" in file.parts or file.name in _OF_THE_INSTALLER:
                continue
            data = Path(str(file.locate())).read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            wheel.writestr(str(file), data)
            listed.append(f"{file},sha256={digest},{len(data)}")
        wheel.writestr(record, "\n".join([*listed, f"{record},,", ""]))
    return path
