"""A session whose names all contain terminal escapes: each subcommand that queries a server prints plain text."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from schedviz.cli.main import COMMANDS, main
from schedviz.client import Client, Session
from tests.cli.hostile import HOSTILE, NAME, dump, is_clean, named, pod
from tests.conftest import ROOT

#: Subcommands tested here: they query a server or read its data folder.
ASKING = {
    "backup", "cancel", "compare", "completion", "cycles", "delete", "events", "explain", "export", "follow", "fork", "generate", "import",
    "login", "restore", "run", "send", "sessions", "state", "step", "token", "what-if",
}  # fmt: skip
#: Tested with files and arguments in tests/cli/test_terminal_escapes.py.
OF_FILES = {"capacity", "experiment", "trace", "conformance", "config", "doctor", "dump", "lesson", "sample", "kit"}
#: `up` is the server of this module; the others print no external data.
OTHERS = {"up", "bench", "check"}


@pytest.fixture
def hostile(client: Client, tmp_path: Path) -> Iterator[Session]:
    """A session with such names, in which every pod was tried."""
    file = tmp_path / "cluster.json"
    file.write_text(dump())
    with client.from_files(file, name=named("session")) as session:
        session.run()
        yield session


def checked_output(machine: dict[str, str], *words: str, leaves_with: tuple[int, ...] = (0,)) -> str:
    """The output of a command, checked for escapes."""
    assert words[0] in ASKING
    done = subprocess.run(
        [sys.executable, "-m", "schedviz.cli.main", *words], cwd=ROOT, env=machine, capture_output=True, timeout=120, check=False
    )
    out, err = done.stdout.decode(), done.stderr.decode()
    assert done.returncode in leaves_with, err
    # Tabs separate the columns of the list of tokens. No name has one.
    assert is_clean(out.replace("\t", " ") if words[0] == "token" else out), words
    assert is_clean(err), words
    return out


def test_output_about_a_session_contains_no_control_character(
    hostile: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SCHEDVIZ_SESSION", hostile.id)

    def here(*words: str, leaves_with: tuple[int, ...] = (0,)) -> str:
        """The output of a command in this process, as all of these use REST alone."""
        assert words[0] in ASKING
        monkeypatch.setattr(sys, "argv", ["schedviz", *words])
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capfd.readouterr()
        assert left.value.code in leaves_with, err
        assert is_clean(out), words
        assert is_clean(err), words
        return out

    copy = tmp_path / f"{HOSTILE}.json"
    copy.write_text(json.dumps(pod("copy", nodeSelector={HOSTILE: HOSTILE})))
    bare: dict[str, Any] = pod("created")
    create = json.dumps({"op": "create", "object": bare})
    for what in ("nodes", "pods", "queue"):
        for form in ("table", "wide", "name", "json", "yaml"):
            here("state", what, "-o", form)
    for form in ("table", "wide", "json", "yaml"):
        here("cycles", "-o", form)
        here("cycles", "--detail", "1", "-o", form if form != "wide" else "json")
        here("sessions", "-o", form)
    here("explain")
    for name in ("large", "picky", "gated", "elsewhere", "runs"):
        here("explain", f"{NAME}/{named(name)}")
    here("explain", f"{NAME}/{named('large')}", "--no-change", "-o", "json")
    here("explain", named("nobody"), leaves_with=(1, 2))
    here("events")
    here("what-if", str(copy), "--copies", "3", leaves_with=(0, 1, 2))
    here("send", create, leaves_with=(0, 1, 2))
    here("send", json.dumps({"op": "delete", "kind": "Pod", "namespace": HOSTILE, "name": named("nobody")}), leaves_with=(1, 2))
    here("send", "-f", str(copy), leaves_with=(0, 1, 2))
    here("step")
    here("run", "-o", "yaml")
    here("cancel", leaves_with=(0, 2))
    other = here("fork", "--name", named("fork")).strip()
    assert "\\u202egnp" in here("compare", hostile.id, other, leaves_with=(0, 1))
    here("compare", hostile.id, other, "-o", "json", leaves_with=(0, 1))
    file = tmp_path / f"{NAME}.schedviz"
    here("export", str(file))
    imported = here("import", str(file), "--wait", "-o", "json")
    here("import", str(copy), "--wait", leaves_with=(0, 1, 2))
    here("generate", "--shape", HOSTILE, leaves_with=(1, 2))
    for session in (other, json.loads(imported)["id"]):
        here("delete", "--session", session)


def test_json_and_yaml_output_have_the_names_unchanged(hostile: Session, machine: dict[str, str]) -> None:
    for form, read in (("json", json.loads), ("yaml", yaml.safe_load)):
        rows = read(checked_output(machine, "sessions", "-o", form))
        state = read(checked_output(machine, "state", "-o", form, "--session", hostile.id))
        assert named("session") in [row["name"] for row in rows]
        assert named("open") in [item["name"] for item in state["cache"]["list"]]
    events = [json.loads(line) for line in checked_output(machine, "events", "--session", hostile.id).splitlines()]
    assert any(f"{NAME}/{named('large')}" == event.get("pod") for event in events)


def test_other_server_data_is_printed_without_control_characters(hostile: Session, machine: dict[str, str], tmp_path: Path) -> None:
    checked_output(machine, "token", "create", "--name", HOSTILE, leaves_with=(0, 1, 2))
    checked_output(machine, "token", "list")
    checked_output(machine, "token", "revoke", HOSTILE, leaves_with=(0, 1, 2))
    checked_output(machine, "login")
    checked_output(machine, "backup", str(tmp_path / f"{HOSTILE}.backup"), leaves_with=(0, 1, 2))
    checked_output(machine, "restore", str(tmp_path / HOSTILE), leaves_with=(1, 2))
    checked_output(machine, "follow", "--context", HOSTILE, "--kubeconfig", str(tmp_path / HOSTILE), leaves_with=(2,))
    completing = {**machine, "_SCHEDVIZ_COMPLETE": "zsh_complete", "COMP_WORDS": "schedviz cycles --session ", "COMP_CWORD": "3"}
    assert hostile.id in checked_output(completing, "completion")


def test_every_subcommand_is_covered() -> None:
    assert set(COMMANDS) == ASKING | OF_FILES | OTHERS
