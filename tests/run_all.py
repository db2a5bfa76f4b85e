"""Everything that must hold, step by step, with what each took: `python tests/run_all.py check | test | all | STEP...`.

Every group of tests is a pytest process of its own: a browser's event loop and the asyncio tests do not go together, and a crash
of one is not the end of the others. All steps run, whatever fails before them. What only computes runs two at a time; what starts
servers and waits for them runs alone, so that nothing is late because something else was busy.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PYTEST = ["-m", "pytest", "-q"]
#: Folders of tests that compute and wait for nobody.
COMPUTING = ("engine", "kube", "trace", "ingest", "explain", "lessons", "frontend")
#: Folders of tests that start the whole program, a browser, or end what they started.
WHOLE_PROGRAM = ("up", "e2e", "faults")
OF_OTHER_STEPS = (*COMPUTING, *WHOLE_PROGRAM, "conformance", "sessions")


class Step(NamedTuple):
    name: str
    command: list[str]
    folder: Path = ROOT


class Outcome(NamedTuple):
    step: Step
    passed: bool
    seconds: float


#: They read files and touch nothing, so two run at a time.
CHECKS = [
    Step("mypy", [str(BIN / "mypy")]),
    Step("format", [str(BIN / "ruff"), "format", "--check", "--quiet", "."]),
    Step("lint", [str(BIN / "ruff"), "check", "--quiet", "--output-format=concise", "."]),
    Step("imports", [str(BIN / "lint-imports")]),
    Step("bandit", [str(BIN / "bandit"), "-q", "-r", "schedviz", "-c", "pyproject.toml", "--severity-level", "medium"]),
    Step("migrations", [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"]),
    Step("openapi", [sys.executable, "manage.py", "spectacular", "--validate", "--fail-on-warn", "--file", os.devnull]),
    Step("wire schema", [sys.executable, "-m", "schedviz.web.gen", "--check"]),
    Step("generated", [sys.executable, "-m", "frontend.scripts.generate_types", "--check"]),
    Step("editor schema", [sys.executable, "-m", "frontend.scripts.generate_schema", "--check"]),
    Step("svelte", ["npm", "run", "--silent", "check"], ROOT / "frontend"),
    Step("eslint", ["npm", "run", "--silent", "lint"], ROOT / "frontend"),
]

COMPUTED = [
    Step("engine", [sys.executable, *PYTEST, *(f"tests/{name}" for name in COMPUTING)]),
    Step("conformance", [sys.executable, *PYTEST, "tests/conformance"]),
    Step("vitest", ["npm", "run", "--silent", "test"], ROOT / "frontend"),
]

SERVED = [
    Step("sessions", [sys.executable, *PYTEST, "tests/sessions"]),
    # Django has one database in a process, so this is a process of its own.
    Step("postgresql", [sys.executable, "-m", "tests.postgres", *PYTEST, "tests/sessions"]),
    Step("web", [sys.executable, *PYTEST, "tests", *(f"--ignore=tests/{name}" for name in OF_OTHER_STEPS)]),
    *(Step(name, [sys.executable, *PYTEST, f"tests/{name}"]) for name in WHOLE_PROGRAM),
]

GROUPS = {"check": CHECKS, "test": [*COMPUTED, *SERVED], "all": [*CHECKS, *COMPUTED, *SERVED]}


def main(wanted: list[str]) -> int:
    names = {step.name for group in wanted for step in GROUPS.get(group, [])} | set(wanted)
    beside, alone = ([step for step in steps if step.name in names] for steps in ([*CHECKS, *COMPUTED], SERVED))
    if not beside and not alone:
        print(f"expected {', '.join(GROUPS)}, or some of: {', '.join(step.name for step in GROUPS['all'])}", file=sys.stderr)
        return 2
    began = time.monotonic()
    with ThreadPoolExecutor(max_workers=2) as pool:
        outcomes = list(pool.map(run_quietly, beside))
    outcomes += [run(step) for step in alone]
    print()
    for outcome in outcomes:
        print(f"{'ok    ' if outcome.passed else 'FAILED'} {outcome.step.name:<12} {outcome.seconds:6.1f} s")
    print(f"{'':6} {'in all':<12} {time.monotonic() - began:6.1f} s")
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def run_quietly(step: Step) -> Outcome:
    """Show what a step has to say only if it objects."""
    began = time.monotonic()
    done = subprocess.run(step.command, cwd=step.folder, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        print(f"\n== {step.name}\n{done.stdout}", flush=True)
    return Outcome(step, done.returncode == 0, time.monotonic() - began)


def run(step: Step) -> Outcome:
    print(f"\n== {step.name}", flush=True)
    began = time.monotonic()
    done = subprocess.run(step.command, cwd=step.folder, check=False)
    return Outcome(step, done.returncode == 0, time.monotonic() - began)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
