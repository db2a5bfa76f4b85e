"""The commands of `schedviz.cli.remote`: output and exit codes. These tests are here to share the server of the client's tests."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from schedviz.cli.main import cli
from schedviz.client import Client, Session
from schedviz.client.records import Records


@pytest.fixture
def session(client: Client, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    with client.generate(nodes=2, pods=3, seed=1, name="in a shell") as session:
        monkeypatch.setenv("SCHEDVIZ_SESSION", session.id)
        yield session


def output_of(*words: str, typed: str = "") -> Result:
    return CliRunner().invoke(cli, list(words), input=typed)


def test_a_list_is_printed_in_the_requested_format(session: Session):
    table, wide, names = output_of("state", "nodes"), output_of("state", "nodes", "-o", "wide"), output_of("state", "nodes", "-o", "name")
    as_json, as_yaml = output_of("state", "-o", "json"), output_of("state", "-o", "yaml")

    assert table.output.splitlines()[0].split()[:2] == ["NODE", "PODS"]
    assert "GENERATION" in wide.output.splitlines()[0]
    assert names.output.split() == session.state().nodes.column("node")
    assert json.loads(as_json.output)["id"] == yaml.safe_load(as_yaml.output)["id"] == session.id


def test_a_session_is_found_by_id_prefix_name_or_as_the_newest(session: Session):
    for which in (session.id, session.id[:13], "in a shell", "@newest"):
        assert output_of("cycles", "--session", which).exit_code == 0

    refused = output_of("cycles", "--session", "nothing")
    assert refused.exit_code != 0
    assert "`schedviz sessions` lists them" in refused.output


def test_a_session_is_generated_with_a_configuration_and_compared_by_name(session: Session, client: Client, tmp_path: Path):
    file = tmp_path / "packed.yaml"
    file.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]}]\n"
    )
    cluster = ("--nodes", "2", "--pods", "3", "--seed", "1")
    made = output_of("generate", *cluster, "--config", str(file), "--name", "packed").stdout.strip()
    try:
        differ, same = output_of("compare", session.id[:13], "packed", "-o", "json"), output_of("compare", "@newest", "packed@0")
        nothing, no_file = output_of("compare", "packed", "nothing"), output_of("compare", "packed", "nothing.yaml")
    finally:
        client.session(made).delete()

    assert [each["path"] for each in json.loads(differ.stdout)["settings"]] == ["config"]
    assert (same.exit_code, "The runs are the same" in same.stdout) == (0, True)
    assert "There is no session 'nothing'" in nothing.output
    assert "nothing.yaml: No such file" in no_file.output
    assert "mixed" in str(output_of("generate", "--shape", "round").exception)


def test_commands_print_their_outcome_and_exit_with_1_on_failure(session: Session):
    step, run = output_of("step", "--count", "2", "-o", "json"), output_of("run")
    again = output_of("send", json.dumps({"op": "delete", "kind": "Node", "name": "nothing"}))
    bad = output_of("send", '{"op": "fly"}')
    accepted = output_of("run", "--no-wait")

    assert json.loads(step.stdout)["cycles"] == 2
    assert run.stdout.split()[-1] == "empty"
    assert (again.exit_code, "not found" in again.output) == (1, True)
    assert bad.exception is not None
    assert (accepted.stdout, "was accepted" in accepted.stderr) == ("", True)
    assert len(json.loads(output_of("cycles", "-o", "json").stdout)) == 3


def test_objects_of_a_file_can_be_created_and_tried_in_many_copies(session: Session, tmp_path: Path):
    file = tmp_path / "pod.yaml"
    file.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: extra}\nspec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1m}}}]}\n"
    )

    created, fits, too_many = (
        output_of("send", "-f", str(file)),
        output_of("what-if", str(file)),
        output_of("what-if", str(file), "--copies", "10000"),
    )

    assert (created.exit_code, fits.exit_code, too_many.exit_code) == (0, 0, 1)
    assert "extra" in output_of("state", "pods").output


def test_explain_queries_the_session(session: Session):
    output_of("run")
    pod = session.state().pods[0]["pod"]

    printed = output_of("explain", pod)

    assert printed.exit_code == 0
    assert pod in printed.output
    assert json.loads(output_of("explain", pod, "-o", "json").output)["explanation"]["pod"] == pod
    assert output_of("explain", "default/nothing").exit_code != 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion_is_printed(shell: str):
    assert "_SCHEDVIZ_COMPLETE" in output_of("completion", shell).output


def test_names_are_printed_without_control_characters(session: Session, client: Client):
    with client.generate(nodes=1, pods=0, name="a\u202eb"):
        assert "\u202e" not in output_of("sessions").output


def test_rows_can_be_printed_as_csv():
    rows = list(csv.DictReader(Records([{"node": "a,b", "cpu": 1}, {"node": "c", "pods": ["x", "y"]}]).to_csv().splitlines()))

    assert rows == [{"node": "a,b", "cpu": "1", "pods": ""}, {"node": "c", "cpu": "", "pods": "x y"}]
