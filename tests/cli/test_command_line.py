"""The `schedviz` command as a user runs it: in its own process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import schedviz
from schedviz.cli import main as command_line


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "schedviz.cli.main", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        timeout=60,
    )


def test_help_lists_every_command_with_a_one_line_description():
    response = run("--help")

    assert response.returncode == 0
    for name, place in command_line.COMMANDS.items():
        assert name in response.stdout
        assert " ".join(place.summary.split()[:3]) in " ".join(response.stdout.split())


def heavy_imports_of(*arguments: str, heavy: set[str]) -> str:
    """The names of these modules that a command imports; "" if it imports none."""
    program = (
        f"import sys; from schedviz.cli.main import main; sys.argv = ['schedviz', *{arguments!r}]\n"
        "try: main()\nexcept SystemExit: pass\n"
        f"sys.stderr.write(' '.join({heavy!r} & set(sys.modules)))"
    )
    response = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    return response.stderr


def test_help_imports_no_django_numpy_or_command():
    heavy = {"django", "numpy", "celery", "redis", "schedviz.cli.up", "schedviz.engine"}
    assert heavy_imports_of("--help", heavy=heavy) == ""


def test_the_list_of_measures_does_not_import_the_engine():
    assert heavy_imports_of("experiment", "measures", heavy={"django", "celery", "schedviz.engine"}) == ""


@pytest.mark.parametrize("name", command_line.COMMANDS)
def test_every_command_has_its_own_help(name):
    response = run(name, "--help")

    assert response.returncode == 0, response.stderr
    assert f"schedviz {name}" in response.stdout


def test_version_is_the_package_version():
    response = run("--version")

    assert (response.returncode, response.stdout) == (0, f"schedviz {schedviz.__version__}\n")


def test_an_unknown_command_is_refused_with_the_closest_known_one():
    response = run("trcae")

    assert response.returncode == 2
    assert "No such command: 'trcae'. Did you mean 'trace'?" in response.stderr
    assert "Traceback" not in response.stderr


def test_an_unknown_option_is_refused_in_one_sentence_that_points_to_the_help():
    response = run("up", "--prot", "1")

    assert response.returncode == 2
    assert "--prot" in response.stderr
    assert "schedviz up --help" in response.stderr


def test_an_invalid_variable_is_reported_in_one_line():
    response = subprocess.run(
        [sys.executable, "-m", "schedviz.cli.main", "check"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SCHEDVIZ_PUBLIC": "maybe"},
        timeout=60,
    )

    assert response.returncode == 2
    assert response.stderr == "schedviz: SCHEDVIZ_PUBLIC='maybe' is not a Boolean; expected 1 or 0.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sessions", "--server", "http://127.0.0.1:99999"), "an address such as"),
        (("explain", "--session", "x", "--server", "http://[::1"), "an address such as"),
        (("explain", "--session", "x", "--server", "http://ada:hush@127.0.0.1:1"), "contains a user name or a password"),
        (("sessions", "--server", "http://127.0.0.1:1", "--token", "\u00e9"), "characters that tokens do not have"),
        (("send", "-f", "{deep}", "--server", "http://127.0.0.1:1", "--token", "t"), "nested too deep"),
        (("token", "create", "--name", "a", "--days", "99999999999"), "is not in the range 1<=x<=36500"),
    ],
)
def test_invalid_input_is_not_reported_as_a_bug(tmp_path: Path, arguments: tuple[str, ...], message: str):
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 100_000)

    answer = run(*(argument.format(deep=deep) for argument in arguments), SCHEDVIZ_SESSION="x")

    assert answer.returncode == 2, answer.stderr
    assert message in answer.stderr
    assert "this is a bug" not in answer.stderr


def test_an_internal_error_is_reported_in_one_line_and_logged(tmp_path: Path):
    program = (
        "import sys\nfrom schedviz.cli import main as line\nfrom schedviz.cli.lazy import LazyCommand\n"
        "line.COMMANDS['up'] = LazyCommand('os', 'no_such_command', '')\n"
        "sys.argv = ['schedviz', 'up', '--token', 'SECRET 1', '--token=SECRET2', '--server', 'https://ada:SECRET3@host/a']\nline.main()"
    )

    response = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
        timeout=60,
    )

    assert response.returncode == 70
    assert response.stderr.count("\n") == 1
    assert "AttributeError" in response.stderr
    logged = (tmp_path / "schedviz" / "cli.log").read_text()
    assert "Traceback" in logged
    assert "schedviz up --token [redacted] --token [redacted] --server https://[redacted]@host/a" in logged
    assert "SECRET" not in logged


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_not_reported_as_a_bug():
    with Path("/dev/full").open("w") as full:
        answer = subprocess.run(
            [sys.executable, "-m", "schedviz.cli.main", "sample"], stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60
        )

    assert answer.returncode == 2
    assert answer.stderr.startswith("schedviz: The output could not be written: No space left on device.")


def test_a_closed_pipe_is_not_an_error():
    response = subprocess.run(
        f"{sys.executable} -m schedviz.cli.main --help | head -1", shell=True, capture_output=True, text=True, check=False, timeout=60
    )

    assert response.stderr == ""


def test_without_a_command_the_help_is_shown():
    response = run()

    assert response.returncode == 2
    assert response.stdout.startswith("Usage: schedviz")
