"""Everything that must hold, step by step, with what each took: `python tests/run_all.py check | test | all | STEP...`.

Every group of tests is a pytest process of its own: a browser's event loop and the asyncio tests do not go together, and a crash
of one is not the end of the others. All steps run, whatever fails before them. What only computes runs two at a time; what starts
servers and waits for them runs alone, so that nothing is late because something else was busy.

Where real processes race, a test may fail of its own race. Up to three such failures of a step are tried once more, each shown as it
was: one that passes then is named as unsteady at the end, and is to be mended.
"""

from __future__ import annotations

import json
import os
import shutil
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


#: More failures of a step than this are nobody's race.
MOST_UNSTEADY = 3
TESTS_FAILED = 1


class Step(NamedTuple):
    name: str
    command: list[str]
    folder: Path = ROOT
    #: What follows the command: for pytest, the tests to run.
    tests: tuple[str, ...] = ()

    @property
    def cache(self) -> Path:
        """Where pytest notes which tests failed."""
        return self.folder / ".pytest_cache" / "steps" / self.name


class Outcome(NamedTuple):
    step: Step
    passed: bool
    seconds: float
    #: Tests that failed and passed when tried once more.
    unsteady: tuple[str, ...] = ()


#: They read files and touch nothing, so two run at a time.
CHECKS = [
    Step("mypy", [str(BIN / "mypy")]),
    Step("format", [str(BIN / "ruff"), "format", "--check", "--quiet", "."]),
    Step("lint", [str(BIN / "ruff"), "check", "--quiet", "--output-format=concise", "."]),
    Step("words", [sys.executable, "tools/retired_words.py"]),
    Step("imports", [str(BIN / "lint-imports")]),
    Step("bandit", [str(BIN / "bandit"), "-q", "-r", "schedviz", "-c", "pyproject.toml", "--severity-level", "medium"]),
    Step("migrations", [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"]),
    Step("openapi", [sys.executable, "manage.py", "spectacular", "--validate", "--fail-on-warn", "--file", os.devnull]),
    Step("wire schema", [sys.executable, "-m", "schedviz.web.wire_schema", "--check"]),
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
    Step("sessions", [sys.executable, *PYTEST], tests=("tests/sessions",)),
    # Django has one database in a process, so this is a process of its own.
    Step("postgresql", [sys.executable, "-m", "tests.postgres", *PYTEST], tests=("tests/sessions",)),
    Step("web", [sys.executable, *PYTEST], tests=("tests", *(f"--ignore=tests/{name}" for name in OF_OTHER_STEPS))),
    *(Step(name, [sys.executable, *PYTEST], tests=(f"tests/{name}",)) for name in WHOLE_PROGRAM),
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
    for test in (test for outcome in outcomes for test in outcome.unsteady):
        print(f"unsteady: failed, then passed alone; mend it: {test}")
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
    """Run the tests of real processes; a few that fail, once more."""
    print(f"\n== {step.name}", flush=True)
    began = time.monotonic()
    failed: tuple[str, ...] = ()
    shutil.rmtree(step.cache, ignore_errors=True)
    done = _pytest(step, step.tests)
    if done == TESTS_FAILED and len(failed := _failed_tests(step)) <= MOST_UNSTEADY:
        print(f"\n== {step.name}: once more, what failed", flush=True)
        done = _pytest(step, failed)
    return Outcome(step, done == 0, time.monotonic() - began, failed if done == 0 else ())


def _pytest(step: Step, tests: tuple[str, ...]) -> int:
    return subprocess.run([*step.command, "-o", f"cache_dir={step.cache}", *tests], cwd=step.folder, check=False).returncode


def _failed_tests(step: Step) -> tuple[str, ...]:
    return tuple(json.loads((step.cache / "v/cache/lastfailed").read_text()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
