"""Builds the kit: the wheels of the installed packages, schedviz itself, lessons, and a start script."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from schedviz.cli.kit import own_wheel, pins, repacked_wheels

#: Unpacks the wheels on first start; the wheel of this tool can run as it is.
_UNPACKER = "pip"


class CannotMake(Exception):
    """The kit cannot be built here; the message has the reason."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class KitContents(NamedTuple):
    """The contents of a kit."""

    wheels: int
    bytes: int


def make(folder: Path, lessons: Iterable[Path], *, report: Callable[[str], object]) -> KitContents:
    """Fill a new or empty folder. pip downloads wheels of packages that were not installed from a wheel.

    Raises `CannotMake`, and leaves nothing in the folder then.
    """
    if folder.exists() and any(folder.iterdir()):
        raise CannotMake(f"{folder} is not empty. Name a new folder.")
    try:
        return _fill(folder, lessons, report)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise CannotMake(f"{error.filename or folder}: {error.strerror or error}.") from error
        raise


def _fill(folder: Path, lessons: Iterable[Path], report: Callable[[str], object]) -> KitContents:
    wheels = folder / "wheels"
    wheels.mkdir(parents=True)
    try:
        own = own_wheel.write(wheels)
    except own_wheel.NotBuilt as error:
        raise CannotMake(str(error)) from error
    report(f"Built {own.name}. Packing its dependencies …")
    try:
        requirements = pins.pins_of(own_wheel.requirements(own))
    except PackageNotFoundError as error:
        raise CannotMake(f"{error.name} is required but not installed. Run `make setup`, or pip install schedviz again.") from error
    _collect_wheels([*requirements, pins.pin(_UNPACKER)], wheels, report=report)
    for source in lessons:
        shutil.copytree(source, folder / "lessons" / source.resolve().name)
    _write_script(folder)
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return KitContents(wheels=len(list(wheels.glob("*.whl"))), bytes=sum(path.stat().st_size for path in paths))


def _collect_wheels(requirements: list[str], wheels: Path, *, report: Callable[[str], object]) -> None:
    """Collect the wheels of these packages: repacked from the installation, or downloaded."""
    absent = []
    for one in requirements:
        installed = repacked_wheels.packable(one.partition("==")[0])
        if installed is None:
            absent.append(one)
        else:
            repacked_wheels.pack(installed, wheels)
    if absent:
        report(f"Downloading {', '.join(absent)} …")
        _fetch(absent, wheels)


def _fetch(requirements: list[str], wheels: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    # The machine that runs the kit need not have a compiler.
    arguments = [*command, "--only-binary", ":all:", "--dest", str(wheels), *requirements]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-4:]
        raise CannotMake("pip could not download all dependencies of schedviz:", *(f"    {line}" for line in last))


def _write_script(folder: Path) -> None:
    own = files("schedviz.cli.kit")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    script = folder / "schedviz"
    script.write_text((own / "start.sh").read_text().replace("@PYTHON@", version))
    script.chmod(0o755)
    made_on = f"{platform.system()} {platform.machine()}"
    (folder / "README.txt").write_text((own / "README.txt").read_text().replace("@PYTHON@", version).replace("@SYSTEM@", made_on))
