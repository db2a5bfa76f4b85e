"""tests/run_all.py retries a few failures, names those that pass then as unsteady, and lists the slowest tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests import run_all
from tests.run_all import COMPUTED, PYTEST, ROOT, SERVED, Outcome, Step, retried, run, slowest

FAILS_ONCE = """
from pathlib import Path

def test_that_is_unsteady():
    seen = Path(__file__).with_suffix(".seen")
    was_seen = seen.exists()
    seen.touch()
    assert was_seen

def test_that_holds():
    pass
"""
FAILS = """
import pytest

@pytest.mark.parametrize("number", range({times}))
def test_that_fails(number):
    with open("runs", "a") as runs:
        runs.write("one")
    assert False
"""


@pytest.fixture(autouse=True)
def _without_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy tests need none, and importing them takes seconds."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def step(folder: Path, tests: str) -> Step:
    (folder / "test_toy.py").write_text(tests)
    return Step("toy", [sys.executable, *PYTEST], folder, ("test_toy.py",))


def test_a_failure_that_passes_on_the_retry_is_named_as_unsteady(tmp_path: Path):
    outcome = retried(run(step(tmp_path, FAILS_ONCE)))

    assert outcome.passed
    assert outcome.unsteady == ("test_toy.py::test_that_is_unsteady",)


def test_a_failure_that_fails_on_the_retry_is_a_failure(tmp_path: Path):
    outcome = retried(run(step(tmp_path, FAILS.format(times=1))))

    assert not outcome.passed
    assert outcome.unsteady == ()
    assert (tmp_path / "runs").read_text() == "one" * 2


def test_more_than_three_failures_are_not_retried(tmp_path: Path):
    assert not retried(run(step(tmp_path, FAILS.format(times=4)))).passed
    assert (tmp_path / "runs").read_text() == "one" * 4


def test_a_step_that_is_not_pytest_is_not_retried(tmp_path: Path):
    toy = Step("toy", [sys.executable, "-c", "open('runs', 'a').write('one'); raise SystemExit(1)"], tmp_path)

    assert not retried(run(toy)).passed
    assert (tmp_path / "runs").read_text() == "one"


def test_every_test_module_belongs_to_one_step():
    commands = [[word for word in (*step.command, *step.tests) if word.startswith(("tests", "--ignore="))] for step in (*SERVED, *COMPUTED)]
    runs = {module: [step for step in commands if _runs(step, module)] for module in _modules()}

    # tests/sessions runs on SQLite and on PostgreSQL.
    assert {module: len(steps) for module, steps in runs.items()} == {
        module: 2 if module.startswith("tests/sessions/") else 1 for module in runs
    }


def _modules() -> list[str]:
    return [str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")]


def _runs(words: list[str], module: str) -> bool:
    """Whether pytest with these arguments collects a module."""
    folders = {str(folder) for folder in (Path(module), *Path(module).parents)}
    return any(word in folders for word in words) and not any(word.removeprefix("--ignore=") in folders for word in words if "=" in word)


def test_the_slowest_tests_of_all_steps_are_listed():
    outputs = [
        "..\n=== slowest 10 durations ===\n12.30s call     tests/a.py::test_a[x y]\n1.00s setup    tests/a.py::test_b\n2 passed in 13.30s\n",
        "=== slowest 10 durations ===\n(9 durations < 1s hidden.)\n2.00s teardown tests/c.py::test_c\n",
    ]

    assert [(one.seconds, one.phase, one.test) for one in slowest(outputs)] == [
        (12.3, "call", "tests/a.py::test_a[x y]"),
        (2.0, "teardown", "tests/c.py::test_c"),
        (1.0, "setup", "tests/a.py::test_b"),
    ]


def test_an_unknown_step_is_refused_with_the_names_of_all(capsys: pytest.CaptureFixture[str]):
    assert run_all.main(["egnine"]) == 2
    assert "quick, check, test, all, or some of: format, " in capsys.readouterr().err


def test_the_report_names_slow_and_unsteady_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    toy = step(tmp_path, "def test_nothing(): pass")
    monkeypatch.setattr(run_all, "STEPS", [toy])
    monkeypatch.setattr(
        run_all, "run", lambda step: Outcome(step, 0, 3.0, 1.5, "2.00s call test_toy.py::test_slow\n", ("test_toy.py::test_b",))
    )

    assert run_all.main(["toy"]) == 0
    printed = capsys.readouterr().out
    assert "   2.0 s  test_toy.py::test_slow" in printed
    assert "unsteady: failed, then passed on the retry; mend it: test_toy.py::test_b" in printed
