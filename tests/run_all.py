"""Run all checks and tests: `python tests/run_all.py quick | check | test | all | STEP...`.

Each group of tests is a pytest process with its own Redis, database and folders: the event loop of a browser and asyncio tests do not fit
in one process, and a crash of one group does not end the others. So steps run side by side, in `LANES` lanes. All steps run, whatever
fails before them. The output of a step is shown when it ends, if it failed.

Tests that start real processes are timing-sensitive. When all steps have ended, up to three failures of a step are retried, with nothing
beside them. A test that passes then is listed as unsteady, and is to be mended.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
#: How many steps run side by side. They wait for processes and time limits most of the time: four used 1.4 of two processors.
LANES = int(os.environ.get("SCHEDVIZ_TEST_LANES") or min(8, (os.cpu_count() or 1) + 3))
#: pytest prints the durations of a step's slowest tests at the end.
SLOWEST = 10
PYTEST = ["-m", "pytest", "-q", f"--durations={SLOWEST}", "--durations-min=1"]
#: Folders of tests that start no other process: the scheduler, its input readers and explanations.
PURE = ("engine", "cel", "kube", "trace", "explain", "experiments", "lessons")
POISON = "tests/faults/test_poison.py"
#: More failures of a step than this are not a matter of timing, and are not retried.
MAX_UNSTEADY = 3
TESTS_FAILED = 1
_DURATION = re.compile(r"^ *(\d+\.\d+)s (call|setup|teardown) +(\S.*)$", re.MULTILINE)


class Step(NamedTuple):
    name: str
    command: Sequence[str]
    folder: Path = ROOT
    #: The tests that pytest runs. Failures of a step without them are not retried.
    tests: tuple[str, ...] = ()

    @property
    def cache(self) -> Path:
        """Where pytest notes which tests failed."""
        return self.folder / ".pytest_cache" / "steps" / self.name


class Outcome(NamedTuple):
    step: Step
    code: int
    seconds: float
    #: CPU time of its processes, in seconds; those killed together with their parent are missing.
    cpu: float
    output: str
    #: Tests that failed and passed when they were retried.
    unsteady: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return self.code == 0


class SlowTest(NamedTuple):
    seconds: float
    #: call, setup or teardown.
    phase: str
    test: str


def pytest_step(name: str, *tests: str, runner: Sequence[str] = ()) -> Step:
    """Tests that start processes."""
    return Step(name, [sys.executable, *runner, *PYTEST], tests=tests or (f"tests/{name}",))


def _rest(steps: Iterable[Step]) -> Step:
    """The tests of all folders that no other step runs, so that a new folder is not forgotten."""
    others = {test for step in steps for test in step.tests if not test.startswith("-")} | {
        f"tests/{name}" for name in (*PURE, "ingest", "frontend", "conformance")
    }
    return pytest_step("rest", "tests", *(f"--ignore={test}" for test in sorted(others)))


CHECKS = [
    Step("format", [str(BIN / "ruff"), "format", "--check", "--quiet", "."]),
    Step("lint", [str(BIN / "ruff"), "check", "--quiet", "--output-format=concise", "."]),
    Step("words", [sys.executable, "tools/retired_words.py"]),
    Step("mypy", [str(BIN / "mypy")]),
    Step("imports", [str(BIN / "lint-imports")]),
    Step("bandit", [str(BIN / "bandit"), "-q", "-r", "schedviz", "-c", "pyproject.toml", "--severity-level", "medium"]),
    Step("migrations", [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"]),
    Step("openapi", [sys.executable, "manage.py", "spectacular", "--validate", "--fail-on-warn", "--file", os.devnull]),
    Step("wire schema", [sys.executable, "-m", "schedviz.web.wire_schema", "--check"]),
    Step("generated", [sys.executable, "-m", "frontend.scripts.generate_types", "--check"]),
    Step("editor schema", [sys.executable, "-m", "frontend.scripts.generate_schema", "--check"]),
    Step("glossary", [sys.executable, "-m", "frontend.scripts.generate_glossary", "--check"]),
    Step("sync client", [sys.executable, "tools/unasync.py", "--check"]),
    Step("svelte", ["npm", "run", "--silent", "check"], ROOT / "frontend"),
    Step("eslint", ["npm", "run", "--silent", "lint"], ROOT / "frontend"),
]

#: The longest first, so that the lanes end at about the same time.
SERVED = [
    pytest_step("web"),
    pytest_step("faults", "tests/faults", f"--ignore={POISON}"),
    pytest_step("e2e"),
    # Django has one database in a process, so this is another process.
    pytest_step("postgresql", "tests/sessions", "-m", "not any_database", runner=("-m", "tests.postgres")),
    pytest_step("sessions"),
    # It waits for time limits, beside the other faults.
    pytest_step("poison", POISON),
    pytest_step("deploy"),
    pytest_step("up"),
    pytest_step("client"),
    pytest_step("rooms"),
]
SERVED.append(_rest(SERVED))

COMPUTED = [
    Step("engine", [sys.executable, *PYTEST, *(f"tests/{name}" for name in PURE)]),
    Step("ingest", [sys.executable, *PYTEST, "tests/ingest", "tests/frontend"]),
    Step("conformance", [sys.executable, *PYTEST, "tests/conformance"]),
    Step("vitest", ["npm", "run", "--silent", "test"], ROOT / "frontend"),
]

ALL = [*CHECKS, *SERVED, *COMPUTED]
#: For the inner loop: under a minute with two free cores and a warm cache of mypy.
QUICK = [
    *(step for step in ALL if step.name in {"format", "lint", "words", "mypy", "vitest"}),
    # In two processes, for two processors.
    *(
        Step(f"quick tests {number}", [sys.executable, *PYTEST, *(f"tests/{name}" for name in names), "-m", "not slow"])
        for number, names in ((1, PURE[:2]), (2, PURE[2:]))
    ),
]
STEPS = [*ALL, *(step for step in QUICK if step not in ALL)]
GROUPS = {"quick": QUICK, "check": CHECKS, "test": [*SERVED, *COMPUTED], "all": ALL}


def main(wanted: list[str]) -> int:
    known = {**{step.name: [step] for step in STEPS}, **GROUPS}
    if not wanted or not known.keys() >= set(wanted):
        print(f"expected {', '.join(GROUPS)}, or some of: {', '.join(step.name for step in STEPS)}", file=sys.stderr)
        return 2
    names = {step.name for name in wanted for step in known[name]}
    steps = [step for step in STEPS if step.name in names]
    began = time.monotonic()
    with ThreadPoolExecutor(max_workers=LANES) as pool:
        outcomes = list(pool.map(run, steps))
    outcomes = [retried(outcome) for outcome in outcomes]
    _report(outcomes, time.monotonic() - began)
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def run(step: Step) -> Outcome:
    """Run a step, and show its output if it fails."""
    began = time.monotonic()
    if step.tests:
        shutil.rmtree(step.cache, ignore_errors=True)
    outcome = _run(step, step.tests, began)
    if not outcome.passed:
        print(f"\n== {step.name}\n{outcome.output}", flush=True)
    print(f"{'ok    ' if outcome.passed else 'FAILED'} {step.name:<13} {outcome.seconds:6.1f} s", flush=True)
    return outcome


def retried(outcome: Outcome) -> Outcome:
    """The outcome, after a second run of the failures if they are few."""
    step = outcome.step
    if outcome.code != TESTS_FAILED or not step.tests or len(failed := _failed_tests(step)) > MAX_UNSTEADY:
        return outcome
    print(f"\n== {step.name}: retry of {len(failed)} failures", flush=True)
    again = _run(step, failed, time.monotonic())
    print(again.output, flush=True)
    seconds, cpu = outcome.seconds + again.seconds, outcome.cpu + again.cpu
    return outcome._replace(code=again.code, seconds=seconds, cpu=cpu, unsteady=failed if again.passed else ())


def slowest(outputs: Iterable[str]) -> list[SlowTest]:
    """The slowest of all tests, from the outputs of several pytest processes."""
    found = (SlowTest(float(seconds), phase, test) for output in outputs for seconds, phase, test in _DURATION.findall(output))
    return sorted(found, reverse=True)[:SLOWEST]


def _run(step: Step, tests: Sequence[str], began: float) -> Outcome:
    pytest_options = ["-o", f"cache_dir={step.cache}", *tests] if tests else []
    command = [*step.command, *pytest_options]
    # The tests start hundreds of Python processes. A third of their start is compiling our modules, if none stores them.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with subprocess.Popen(
        command, cwd=step.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return Outcome(step, process.returncode, time.monotonic() - began, used.ru_utime + used.ru_stime, output)


def _failed_tests(step: Step) -> tuple[str, ...]:
    return tuple(json.loads((step.cache / "v/cache/lastfailed").read_text()))


def _report(outcomes: Sequence[Outcome], seconds: float) -> None:
    print()
    for outcome in outcomes:
        print(f"{'ok    ' if outcome.passed else 'FAILED'} {outcome.step.name:<13} {outcome.seconds:6.1f} s  CPU {outcome.cpu:6.1f} s")
    if slow := slowest(outcome.output for outcome in outcomes):
        print(f"\nThe {len(slow)} slowest tests")
        for one in slow:
            print(f"{one.seconds:6.1f} s  {one.test}{'' if one.phase == 'call' else f' ({one.phase})'}")
    for test in (test for outcome in outcomes for test in outcome.unsteady):
        print(f"unsteady: failed, then passed on the retry; mend it: {test}")
    print(f"\n{'':6} {'total':<13} {seconds:6.1f} s  CPU {sum(outcome.cpu for outcome in outcomes):6.1f} s")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
