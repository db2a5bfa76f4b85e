"""Every subcommand that reads files, and every error, prints external names as plain text."""

from __future__ import annotations

import ast
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from schedviz import terminal
from schedviz.cli import main as command_line
from tests.cli.hostile import HOSTILE, NAME, dump, is_clean, named, trace, unsafe
from tests.conftest import ROOT
from tests.kubernetes_api import KubernetesApi

#: Runs a command line in this process. Returns the bytes of standard output and standard error.
Run = Callable[..., tuple[str, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def run_one(*arguments: str, leaves_with: tuple[int, ...] = (0,)) -> tuple[str, str]:
        monkeypatch.setattr(sys, "argv", ["schedviz", *arguments])
        with pytest.raises(SystemExit) as left:
            command_line.main()
        out, err = capfd.readouterr()
        assert left.value.code in leaves_with, err
        return out, err

    return run_one


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    path = tmp_path / "cluster.json"
    path.write_text(dump())
    return str(path)


@pytest.fixture
def runs(tmp_path: Path) -> tuple[str, str]:
    """Two traces that end differently."""
    files = []
    for name, cpu in (("a", "2"), ("b", "1")):
        folder = tmp_path / name
        folder.mkdir()
        files.append(folder / f"{HOSTILE}.json")
        files[-1].write_text(trace(cpu=cpu))
    return str(files[0]), str(files[1])


def printing_calls(path: Path) -> Iterator[str]:
    """Calls that print without schedviz.terminal."""
    for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(call, ast.Call):
            name = ast.unparse(call.func)
            if name in {"print", "input", "pprint", "click.clear", "click.confirm", "click.pager", "click.progressbar", "click.prompt"}:
                yield name
            if name.endswith(("Console", "click.echo", "click.echo_via_pager", "click.secho", "sys.stdout.write", "sys.stderr.write")):
                yield name
            if name.startswith(("sys.stdout.buffer.", "sys.stderr.buffer.", "sys.__std")):
                yield name


def test_only_the_terminal_module_of_the_command_line_prints() -> None:
    #: Their output is read by the process that started them, or by this test only.
    children = {"cli/bench/importing.py", "cli/bench/calibration.py", "up/housekeeper.py"}
    package = ROOT / "schedviz"
    modules = [*package.glob("cli/**/*.py"), *package.glob("up/**/*.py")]
    results = {str(path.relative_to(package)): calls for path in modules if (calls := list(printing_calls(path)))}

    assert len(modules) > 80
    assert set(results) <= children, results


@pytest.mark.parametrize(
    ("letter", "escaped"), [("\x1b", "\\x1b"), ("\n", "\\n"), ("\x9b", "\\x9b"), ("\u202e", "\\u202e"), ("\udc80", "\\udc80")]
)
def test_a_control_or_format_character_is_printed_as_its_escape(letter: str, escaped: str) -> None:
    assert terminal.printable(f"a{letter}b") == f"a{escaped}b"


@pytest.mark.parametrize("text", ["plain", "größer 节点 …", "😀", "a\\x1bb", ""])
def test_other_text_is_printed_unchanged(text: str) -> None:
    assert terminal.printable(text) == text


@pytest.mark.parametrize("which", [(), ("POD", "--no-change"), ("POD",)])
@pytest.mark.parametrize("pod", ["large", "picky", "gated", "elsewhere", "runs", "fits"])
def test_explain_prints_no_control_character(run: Run, cluster: str, which: tuple[str, ...], pod: str) -> None:
    words = [f"{NAME}/{named(pod)}" if word == "POD" else word for word in which]

    out, err = run("explain", *words, "-f", cluster)

    assert "\\u202e" in out
    assert is_clean(out)
    assert is_clean(err)


def test_names_with_control_characters_are_refused_in_printable_text(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    file.write_text(dump(HOSTILE))

    for command in (("explain", "-f", str(file)), ("doctor", str(file)), ("dump", str(file)), ("import", "--dry-run", str(file))):
        # The refused pod's message is still explained.
        out, err = run(*command, leaves_with=(0,) if command[0] == "explain" else (2,))
        assert "\\x1b" in (out if command[0] == "explain" else err)
        assert is_clean(out + err)


def test_capacity_and_experiments_print_no_control_character(run: Run, cluster: str, tmp_path: Path) -> None:
    plan, refused = tmp_path / "plan.yaml", tmp_path / "refused.yaml"
    for file, name in ((plan, named("packing")), (refused, HOSTILE)):
        variants = f"variants: [{{name: {json.dumps(name)}}}, {{name: other}}]"
        file.write_text(f"experiment: 1\nname: {json.dumps(name)}\nbase: {{files: [{json.dumps(cluster)}]}}\n{variants}\n")
    pod = tmp_path / "pod.json"
    pod.write_text(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": NAME}, "spec": {"containers": [{"name": "c"}]}}))

    for command in (
        ("capacity", "fit", cluster, "--pod", str(pod)),
        ("capacity", "nodes", cluster),
        ("capacity", "loss", cluster),
        ("experiment", "check", str(plan)),
        ("experiment", "run", str(plan)),
        ("experiment", "run", str(refused)),
        ("experiment", "run", HOSTILE),
    ):
        out, err = run(*command, leaves_with=(0, 1, 2))
        assert out + err
        assert is_clean(out + err)


def test_json_output_has_unchanged_names_and_no_control_character(run: Run, cluster: str, runs: tuple[str, str]) -> None:
    told, _ = run("explain", "-o", "json", "-f", cluster)
    compared, _ = run("compare", *runs, "-o", "json", leaves_with=(1,))
    doctor, _ = run("doctor", "-o", "json", cluster, leaves_with=(0, 1))
    kept, _ = run("import", "--dry-run", "-o", "json", cluster)

    for printed in (told, compared, doctor, kept):
        assert is_clean(printed)
    assert any(f"{NAME}/{named('large')}" in group["pods"] for group in json.loads(told)["groups"])
    assert json.loads(compared)["a"]["name"]
    assert f"Pod {NAME}/{named('large')}" in json.loads(kept)["origins"]


def test_messages_and_missing_pods_print_no_control_character(run: Run, cluster: str) -> None:
    message = f"0/3 nodes are available: 1 {HOSTILE}, 2 Insufficient cpu. preemption: {HOSTILE}"

    for printed in (
        *run("explain", "--message", message, leaves_with=(0, 2)),
        *run("explain", "--message", HOSTILE, leaves_with=(2,)),
        *run("explain", HOSTILE, "-f", cluster, leaves_with=(2,)),
    ):
        assert is_clean(printed)


def test_comparisons_print_no_control_character(run: Run, runs: tuple[str, str], tmp_path: Path) -> None:
    out, err = run("compare", *runs, "--report", str(tmp_path / "report.html"), leaves_with=(1,))
    refused = run("compare", runs[0], str(tmp_path / f"{HOSTILE}.json"), leaves_with=(2,))

    assert "\\x1b" in out
    for printed in (out, err, *refused):
        assert is_clean(printed)


def test_traces_and_conformance_print_no_control_character(run: Run, runs: tuple[str, str], tmp_path: Path) -> None:
    written = run("trace", *runs, str(tmp_path / HOSTILE), "-o", str(tmp_path / "out"), leaves_with=(2,))
    recording = next((tmp_path / "out").iterdir())
    document = json.loads(recording.read_text())
    document["steps"][-1]["observed"] = {"result": HOSTILE, "cache": {"list": [{"name": HOSTILE}]}}
    recording.write_text(json.dumps(document))
    judged = run("conformance", str(tmp_path / "out"), str(tmp_path / HOSTILE), leaves_with=(1, 2))

    for printed in (*written, *judged):
        assert is_clean(printed)
    assert "\\x1b" in written[1]
    assert "difference" in judged[0]


def test_imports_and_examinations_print_no_control_character(run: Run, cluster: str, tmp_path: Path) -> None:
    broken = tmp_path / f"{HOSTILE}.json"
    broken.write_text("{")
    odd = tmp_path / "odd.json"
    odd.write_text(json.dumps({"apiVersion": "v1", "kind": HOSTILE, "metadata": {"name": HOSTILE}}))

    for printed in (
        *run("import", "--dry-run", cluster),
        *run("import", "--dry-run", "--pseudonyms", "secret", cluster, str(broken), leaves_with=(0, 2)),
        *run("import", "--dry-run", str(odd), leaves_with=(2,)),
        *run("import", "--dry-run", str(broken), str(odd), leaves_with=(2,)),
        *run("doctor", cluster, leaves_with=(0, 1)),
        *run("doctor", str(broken), leaves_with=(2,)),
    ):
        assert is_clean(printed)


def test_configurations_print_no_control_character_except_in_the_converted_file(run: Run, tmp_path: Path) -> None:
    wrong, right = tmp_path / f"{HOSTILE}.yaml", tmp_path / "right.yaml"
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    wrong.write_text(
        yaml.safe_dump({**head, "profiles": [{"schedulerName": HOSTILE, "plugins": {"filter": {"enabled": [{"name": HOSTILE}]}}}]})
    )
    right.write_text(yaml.safe_dump({**head, "profiles": [{"schedulerName": named("mine")}]}))

    refused = run("config", str(wrong), leaves_with=(2,))
    converted, _ = run("config", "--convert", str(right))
    as_json, _ = run("config", "--convert", "--json", str(right))

    for printed in (*refused, *run("config", str(right)), as_json):
        assert is_clean(printed)
    for document in (yaml.safe_load(converted), json.loads(as_json)):
        assert document["profiles"][0]["schedulerName"] == named("mine")


def test_lessons_print_no_control_character(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / f"lesson{HOSTILE}"
    made = run("lesson", "new", str(folder))
    text = (folder / "en.md").read_text()
    (folder / "en.md").write_text(text.replace("\n\n", "\n\n\x1b[2J\u202e [link](http://a/\x1b]8;;b) `\x9b31m` \x07\n\n", 3))
    taken = run("lesson", "run", str(folder), "--terminal", leaves_with=(0, 2))
    checked = run("lesson", "check", str(folder), leaves_with=(0, 1, 2))
    missing = run("lesson", "check", f"none{HOSTILE}", leaves_with=(2,))

    assert taken[0]
    for printed in (*made, *taken, *checked, *missing):
        assert is_clean(printed)


def test_following_a_cluster_prints_no_control_character(run: Run, tmp_path: Path) -> None:
    with KubernetesApi() as api:
        api.put("pods", named("p"), namespace="default", spec={"containers": [{"name": "c", "image": "i", HOSTILE: HOSTILE}]})
        context = {"name": HOSTILE, "context": {"cluster": "c", "user": "u"}}
        path = tmp_path / f"{HOSTILE}.yaml"
        path.write_text(
            yaml.safe_dump(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "current-context": HOSTILE,
                    "contexts": [context],
                    "clusters": [{"name": "c", "cluster": {"server": api.address}}],
                    "users": [{"name": "u", "user": {"token": api.token}}],
                }
            )
        )
        shown = run("follow", "--kubeconfig", str(path), "--dry-run")
        other = run("follow", "--kubeconfig", str(path), "--context", named("other"), leaves_with=(2,))
        silent = run("follow", "--kubeconfig", str(path), "--once", "--server", "http://127.0.0.1:1", leaves_with=(2,))

    assert "\\x1b" in shown[0]
    for printed in (*shown, *other, *silent):
        assert is_clean(printed)


@pytest.mark.parametrize(
    "words",
    [
        (HOSTILE,),
        ("up", f"--{HOSTILE}"),
        ("up", "--port", HOSTILE),
        ("up", "--port", "0", "--no-open", "--tls-cert", HOSTILE, "--tls-key", HOSTILE),
        ("explain", "-f", HOSTILE),
        ("doctor", HOSTILE),
        ("dump", HOSTILE),
        ("dump", "--at", HOSTILE, HOSTILE),
        ("import", HOSTILE),
        ("sample", HOSTILE),
        ("config", HOSTILE),
        ("kit", HOSTILE, "--lessons", HOSTILE),
        ("completion", HOSTILE),
        ("state", HOSTILE, "--session", HOSTILE),
        ("state", "--session", HOSTILE, "--server", f"http://127.0.0.1:1/{HOSTILE}"),
        ("sessions", "--server", HOSTILE),
        ("send", "--session", "a", HOSTILE),
        ("send", "--session", "a", "-f", HOSTILE),
        ("bench", "--against", HOSTILE),
        ("restore", HOSTILE),
    ],
)
def test_errors_show_arguments_without_control_characters(
    run: Run, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCHEDVIZ_DATA", str(tmp_path / "data"))

    out, err = run(*words, leaves_with=(1, 2))

    assert err.startswith("schedviz: ")
    assert is_clean(out)
    assert is_clean(err)


def test_an_internal_error_is_reported_without_control_characters(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from schedviz.cli.lazy import LazyCommand

    monkeypatch.setitem(command_line.COMMANDS, "up", LazyCommand("os", named("no_such", HOSTILE), ""))

    out, err = run("up", leaves_with=(70,))

    assert "\\x1b" in err
    assert is_clean(out + err)


def on_a_terminal(*arguments: str) -> str:
    """The visible output of a command line."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-m", "schedviz.cli.main", *arguments], stdout=theirs, stderr=theirs, cwd=ROOT)
    os.close(theirs)
    seen = b""
    try:
        while piece := os.read(ours, 1 << 16):
            seen += piece
    except OSError:
        # Linux's error for a pipe that was closed by its reader.
        pass
    os.close(ours)
    process.wait(60)
    return seen.decode().replace("\r\n", "\n")


def test_a_dump_is_exact_in_a_pipe_and_escaped_on_a_terminal(run: Run, runs: tuple[str, str]) -> None:
    command = ("dump", runs[0])
    piped, _ = run(*command)
    seen = on_a_terminal(*command)

    assert "\x1b[2J" in piped
    assert terminal.printable(piped, keep="\n\t") in seen
    # Progress is overwritten with the terminal module's own escape sequences.
    assert unsafe(seen.replace("\r\x1b[K", "").replace("\t", "")) == []


def test_progress_on_a_terminal_has_only_our_own_escape_sequences(cluster: str) -> None:
    seen = on_a_terminal("explain", f"{NAME}/{named('large')}", "-f", cluster)

    assert "\r\x1b[K" in seen
    assert is_clean(re.sub(r"\r\x1b\[K|\x1b\[(?:0|1|2)m", "", seen))
