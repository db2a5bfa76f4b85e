"""`schedviz explain`, as typed by an engineer on call."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from schedviz.cli.explain import explain


def dump() -> str:
    amounts = {"cpu": "2", "memory": "4Gi", "pods": "110"}
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "a"},
        "spec": {},
        "status": {"capacity": amounts, "allocatable": amounts},
    }
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "3"}}}]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "large", "namespace": "default"}, "spec": {"containers": containers}}
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [node, pod]})


def test_a_file_and_standard_input_give_the_same_output(tmp_path: Path):
    file = tmp_path / "cluster.json"
    file.write_text(dump())
    of_file = CliRunner().invoke(explain, ["default/large", "--no-change", "-f", str(file)])
    piped = CliRunner().invoke(explain, ["default/large", "--no-change", "-f", "-"], input=dump())
    assert (of_file.exit_code, piped.exit_code) == (0, 0)
    assert piped.output == of_file.output
    assert "0/1 nodes are available: 1 Insufficient cpu." in piped.output


def test_a_pod_may_be_named_without_its_namespace_where_one_alone_has_the_name():
    listed = json.loads(dump())
    listed["items"][1]["metadata"]["namespace"] = "shop"
    one = CliRunner().invoke(explain, ["large", "--no-change", "-f", "-"], input=json.dumps(listed))
    twin = {**listed["items"][1], "metadata": {"name": "large", "namespace": "depot"}}
    two = CliRunner().invoke(explain, ["large", "--no-change", "-f", "-"], input=json.dumps({**listed, "items": [*listed["items"], twin]}))

    assert one.output.startswith("shop/large is pending")
    assert 'There is no pod "default/large" here; there is' in two.output


def test_without_nodes_what_the_scheduler_said_is_explained():
    listed = json.loads(dump())
    message = "0/4 nodes are available: 1 node(s) were unschedulable, 3 Insufficient cpu. preemption: not eligible due to x."
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    pod = {**listed["items"][1], "status": {"phase": "Pending", "conditions": [condition]}}

    result = CliRunner().invoke(explain, ["large", "-f", "-"], input=json.dumps({**listed, "items": [pod]}))

    assert result.exit_code == 0
    assert "warning: There is no node" in result.stderr
    assert f"no nodes here to evaluate it on. Last scheduler message: {message}" in result.stdout
    assert "the node is cordoned" in result.stdout
    assert "0/0" not in result.stdout


def test_standard_input_that_is_no_dump_is_named():
    result = CliRunner().invoke(explain, ["default/large", "-f", "-"], input="no such thing")
    assert result.exit_code != 0
    assert "standard input" in result.output


def test_without_a_pod_the_overview_has_each_reason_with_its_pods_and_numbers():
    result = CliRunner().invoke(explain, ["-f", "-"], input=dump())
    assert result.exit_code == 0
    assert result.output.splitlines()[:4] == [
        "1 pod is pending, for 1 reason",
        "",
        "       1 Insufficient cpu",
        "         - default/large: cpu: the pod requests 3; the largest node has 2 in total",
    ]


def test_the_overview_as_json_has_the_groups_of_equal_pods_too():
    result = CliRunner().invoke(explain, ["-f", "-", "-o", "json"], input=dump())
    document = json.loads(result.output)
    assert document["overview"]["count"] == 1
    assert [group["pods"] for group in document["groups"]] == [["default/large"]]


def test_a_message_that_cannot_be_parsed_is_shown_as_unknown() -> None:
    shown = CliRunner().invoke(explain, ["--message", "-"], input="a: 0/3 nodes are available, hm\nb: 0/4 nodes are available, hm\n")

    assert shown.exit_code == 0, shown.output
    assert "0/3 nodes are available, hm  [unknown plugin]" in shown.output
    assert "no default plugin of kube-scheduler" in shown.output


def test_a_text_without_a_message_is_refused_in_a_sentence() -> None:
    refused = CliRunner().invoke(explain, ["--message", "-"], input="all is well\n")

    assert refused.exit_code == 1
    assert refused.output.startswith('Error: Expected a text with "0/N nodes are available: …"')


def test_an_explained_message_says_what_to_do_and_what_its_counts_say() -> None:
    result = CliRunner().invoke(explain, ["--message", "0/6 nodes are available: 5 node(s) didn't match node selector."])

    assert result.exit_code == 0, result.output
    assert "do: compare the pod's nodeSelector" in result.output
    assert "The message gives no reason for 1 node of 6" in result.output


def test_all_messages_of_a_pasted_text_are_explained() -> None:
    text = "\n".join(
        f"{age}  Warning  FailedScheduling  pod/{name}  0/2 nodes are available: 2 {reason}."
        for age, name, reason in (("5m", "web", "Insufficient cpu"), ("1m", "db", "node(s) were unschedulable"))
    )

    printed = CliRunner().invoke(explain, ["--message", "-"], input=text)
    as_json = CliRunner().invoke(explain, ["--message", "-", "-o", "json"], input=text)
    one = CliRunner().invoke(explain, ["db", "--message", "-", "-o", "json"], input=text)

    assert [line for line in printed.output.splitlines() if line.endswith("ago:")] == ["default/web, 5m ago:", "default/db, 1m ago:"]
    assert [each["pod"] for each in json.loads(as_json.output)] == ["default/web", "default/db"]
    assert json.loads(one.output)["clauses"][0]["reason"] == "node(s) were unschedulable"


def test_the_output_as_markdown_has_one_heading_and_no_raw_control_character():
    listed = json.loads(dump())
    listed["items"][1]["spec"]["nodeSelector"] = {"disk": "ssd"}
    result = CliRunner().invoke(explain, ["large", "-f", "-", "-o", "markdown"], input=json.dumps(listed))
    assert result.exit_code == 0
    assert result.stdout.startswith("### Why `default/large` is pending\n")
    refused = CliRunner().invoke(explain, ["--message", "0/1 nodes are available: 1 Insufficient cpu.", "-o", "markdown"])
    assert refused.exit_code == 2
    assert "-o markdown is for pods and for the overview, not for --message." in refused.output


def test_a_file_without_objects_has_its_messages_explained(tmp_path: Path) -> None:
    described = tmp_path / "describe.txt"
    described.write_text(
        "Name: web\nNamespace: shop\nEvents:\n  Warning  FailedScheduling  5m  default-scheduler  0/2 nodes are available: 2 Insufficient cpu.\n"
    )

    result = CliRunner().invoke(explain, ["-f", str(described)])

    assert result.exit_code == 0, result.output
    assert "shop/web:" in result.output
    assert "2 Insufficient cpu  [NodeResourcesFit]" in result.output
    assert "no objects that can be simulated" in result.stderr


def test_the_output_as_a_card_is_a_page_or_an_image_in_a_theme():
    def output(*options: str) -> bytes:
        result = CliRunner().invoke(explain, ["large", "-f", "-", *options], input=dump())
        assert result.exit_code == 0, result.output
        return result.stdout_bytes

    assert output("-o", "html").startswith(b"<!doctype html>")
    assert output("--format", "html") == output("-o", "html")
    light, dark = output("-o", "png"), output("-o", "png", "--theme", "dark")
    assert light[:4] == dark[:4] == b"\x89PNG"
    assert light != dark


def test_the_overview_is_a_card_too_and_a_message_is_not():
    result = CliRunner().invoke(explain, ["-f", "-", "-o", "html"], input=dump())
    assert "is pending, for 1 reason" in result.stdout
    for form in ("html", "png"):
        refused = CliRunner().invoke(explain, ["--message", "0/1 nodes are available: 1 Insufficient cpu.", "-o", form])
        assert f"-o {form} is for pods and for the overview" in refused.output
