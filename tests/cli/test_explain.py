"""`schedviz explain`, as an on-call engineer types it."""

from __future__ import annotations

import gzip
import json
import lzma
import re
from collections.abc import Callable
from pathlib import Path

import pytest
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


def test_a_pod_with_a_unique_name_may_be_named_without_its_namespace():
    listed = json.loads(dump())
    listed["items"][1]["metadata"]["namespace"] = "shop"
    one = CliRunner().invoke(explain, ["large", "--no-change", "-f", "-"], input=json.dumps(listed))
    twin = {**listed["items"][1], "metadata": {"name": "large", "namespace": "depot"}}
    two = CliRunner().invoke(explain, ["large", "--no-change", "-f", "-"], input=json.dumps({**listed, "items": [*listed["items"], twin]}))

    assert one.output.startswith("shop/large is pending")
    assert 'There is no pod "default/large" here; there is' in two.output


def test_without_nodes_the_schedulers_message_is_explained():
    listed = json.loads(dump())
    said = "0/4 nodes are available: 1 node(s) were unschedulable, 3 Insufficient cpu. preemption: not eligible due to x."
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": said}
    pod = {**listed["items"][1], "status": {"phase": "Pending", "conditions": [condition]}}

    told = CliRunner().invoke(explain, ["large", "-f", "-"], input=json.dumps({**listed, "items": [pod]}))

    assert told.exit_code == 0
    assert "warning: There are no nodes" in told.stderr
    # The same sentence as for the message as text.
    whole = "3 do not have enough free CPU and 1 is cordoned. No nodes are loaded, so scheduling was not simulated."
    assert whole in " ".join(told.stdout.split())
    assert " ".join(told.stdout.split()).count(said) == 1
    assert "  1 node is cordoned" in told.stdout
    assert "0/0" not in told.stdout


def test_the_conclusion_comes_first_then_possible_changes_then_the_reasons():
    lines = CliRunner().invoke(explain, ["large", "-f", "-"], input=dump()).stdout.splitlines()

    assert lines[0] == ("default/large is pending: the pod requests 3 CPU, but the largest node has only 2 CPU.")
    order = [
        next(i for i, line in enumerate(lines) if line.startswith(title)) for title in ("Changes that", "Reasons", "Scheduler message")
    ]
    assert order == sorted(order)
    assert f"    a  {'░' * 24}  2 free of 2" in lines


def test_an_invalid_dump_from_standard_input_is_reported():
    result = CliRunner().invoke(explain, ["default/large", "-f", "-"], input="no such thing")
    assert result.exit_code != 0
    assert "standard input" in result.output


def test_without_a_pod_an_overview_lists_each_reason_with_its_pods_and_counts():
    found = CliRunner().invoke(explain, ["-f", "-"], input=dump())
    assert found.exit_code == 0
    assert found.output.splitlines()[:4] == [
        "1 pod is pending",
        "",
        "   1 pod  The pod requests 3 CPU, but the largest node has only 2 CPU",
        "          kube-scheduler: Insufficient cpu",
    ]


def test_pods_with_the_same_counts_are_grouped():
    listed = json.loads(dump())
    node, large = listed["items"]
    other = {"namespace": "default", "labels": {"app": "other"}}
    tolerating = {**large["spec"], "tolerations": [{"operator": "Exists"}]}
    pods = [large, {**large, "metadata": {"name": "other", **other}, "spec": tolerating}]

    shown = CliRunner().invoke(explain, ["--no-change", "-f", "-"], input=json.dumps({**listed, "items": [node, *pods]})).output

    assert "2 pods are pending" in shown
    assert re.search(r"default/(large|other), default/(large|other)", shown), shown


def test_the_json_overview_has_the_groups_of_equal_pods_too():
    found = CliRunner().invoke(explain, ["-f", "-", "-o", "json"], input=dump())
    document = json.loads(found.output)
    assert document["overview"]["count"] == 1
    assert [group["pods"] for group in document["groups"]] == [["default/large"]]


def test_a_message_that_cannot_be_parsed_is_shown_as_unknown() -> None:
    shown = CliRunner().invoke(explain, ["--message", "-"], input="a: 0/3 nodes are available, hm\nb: 0/4 nodes are available, hm\n")

    assert shown.exit_code == 0, shown.output
    assert "0/3 nodes are available, hm  [unknown plugin]" in shown.output
    assert "No default plugin of kube-scheduler" in shown.output


def test_a_text_without_a_message_is_refused_with_an_explanation() -> None:
    refused = CliRunner().invoke(explain, ["--message", "-"], input="all is well\n")

    assert refused.exit_code == 1
    assert refused.output.startswith('Error: Expected a text with "0/N nodes are available: …"')


def test_an_explained_message_has_remedies_and_the_meaning_of_its_counts() -> None:
    found = CliRunner().invoke(explain, ["--message", "0/6 nodes are available: 5 node(s) didn't match node selector."])

    assert found.exit_code == 0, found.output
    assert "Next step: Compare the pod's `nodeSelector`" in found.output
    assert "The message gives no reason for 1 node of 6" in found.output


def test_all_messages_of_a_pasted_text_are_explained() -> None:
    text = "\n".join(
        f"{age}  Warning  FailedScheduling  pod/{name}  0/2 nodes are available: 2 {reason}."
        for age, name, reason in (("5m", "web", "Insufficient cpu"), ("1m", "db", "node(s) were unschedulable"))
    )

    printed = CliRunner().invoke(explain, ["--message", "-"], input=text)
    as_json = CliRunner().invoke(explain, ["--message", "-", "-o", "json"], input=text)
    one = CliRunner().invoke(explain, ["db", "--message", "-", "-o", "json"], input=text)

    assert [line for line in printed.output.splitlines() if line.endswith("ago:")] == ["web, 5m ago:", "db, 1m ago:"]
    assert [each["pod"] for each in json.loads(as_json.output)] == ["default/web", "default/db"]
    assert json.loads(one.output)["clauses"][0]["reason"] == "node(s) were unschedulable"


def test_the_pods_of_a_replica_set_are_explained_once_as_on_the_page() -> None:
    row = "{}m  Warning  FailedScheduling  pod/web-6f7d8c9b5-{}  0/{} nodes are available: {} Insufficient cpu.\n"
    rows = [row.format(age, name, nodes, nodes) for age, name, nodes in ((1, "bbcdz", 6), (2, "fghkj", 6), (3, "x9zqw", 7))]

    printed = CliRunner().invoke(explain, ["--message", "-"], input="".join(rows)).output

    assert printed.startswith("3 pods (web-6f7d8c9b5-bbcdz, web-6f7d8c9b5-fghkj, web-6f7d8c9b5-x9zqw), 1m ago:\n")
    assert printed.count("Next step:") == 1
    assert "web-6f7d8c9b5-x9zqw, 3m ago: 0/7 nodes are available: 7 Insufficient cpu." in printed.splitlines()


def test_markdown_output_has_one_heading_and_no_raw_control_character():
    listed = json.loads(dump())
    listed["items"][1]["spec"]["nodeSelector"] = {"disk": "ssd"}
    found = CliRunner().invoke(explain, ["large", "-f", "-", "-o", "markdown"], input=json.dumps(listed))
    assert found.exit_code == 0
    assert found.stdout.startswith("### Why `default/large` is pending\n")


def test_a_file_without_objects_has_its_messages_explained(tmp_path: Path) -> None:
    described = tmp_path / "describe.txt"
    described.write_text(
        "Name: web\nNamespace: shop\nEvents:\n  Warning  FailedScheduling  5m  default-scheduler  0/2 nodes are available: 2 Insufficient cpu.\n"
    )

    found = CliRunner().invoke(explain, ["-f", str(described)])

    assert found.exit_code == 0, found.output
    assert "shop/web, 5m ago:" in found.output
    assert "Neither node has enough free CPU" in found.output
    assert "Based on messages only: the input contains no nodes." in found.stderr


@pytest.mark.parametrize("files", [("event", "node"), ("node", "event"), ("both",)])
def test_a_message_beside_a_node_is_explained_although_no_pod_is_among_the_objects(tmp_path: Path, files: tuple[str, ...]) -> None:
    event = "Events:\n  Warning  FailedScheduling  5m  default-scheduler  0/2 nodes are available: 2 Too many pods.\n"
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: edge-7}\nstatus:\n  allocatable: {pods: '8'}\n"
    for name, text in (("event", event), ("node", node), ("both", f"{node}\n{event}")):
        (tmp_path / name).write_text(text)

    found = CliRunner().invoke(explain, [word for name in files for word in ("-f", str(tmp_path / name))])

    assert found.exit_code == 0, found.output
    assert "Both nodes have reached their maximum number of pods" in found.stdout
    assert "`edge-7` takes at most 8 pods" in found.stdout
    assert "No pod is pending" not in found.output


def test_a_node_with_a_truncated_description_is_named(tmp_path: Path) -> None:
    described = tmp_path / "describe.txt"
    described.write_text(
        "Name:    edge-7\nRoles:   worker\nTaints:  site=north:NoSchedule\n\n"
        "Name: web\nNamespace: shop\nEvents:\n"
        "  Warning  FailedScheduling  5m  default-scheduler  0/1 nodes are available: 1 node(s) had untolerated taint {site: north}.\n"
    )

    found = CliRunner().invoke(explain, ["-f", str(described)])

    assert "Based on messages only: the description of edge-7 is incomplete." in found.stderr
    assert "`edge-7` has the taint `site=north`, which the pod does not tolerate" in found.stdout


@pytest.mark.parametrize("pod", [(), ("shop/web",)])
def test_text_from_standard_input_is_explained_like_text_from_a_file(tmp_path: Path, pod: tuple[str, ...]) -> None:
    text = "Name: web\nNamespace: shop\nEvents:\n  Warning  FailedScheduling  5m  x  0/2 nodes are available: 2 Insufficient cpu.\n"
    file = tmp_path / "describe.txt"
    file.write_text(text)

    piped = CliRunner().invoke(explain, [*pod, "-f", "-"], input=text)
    of_file = CliRunner().invoke(explain, [*pod, "-f", str(file)])

    assert piped.exit_code == 0, piped.output
    assert "Neither node has enough free CPU" in piped.stdout
    assert piped.stdout == of_file.stdout


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_compressed_file_without_objects_has_its_messages_explained(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    described = tmp_path / "describe.txt.packed"
    described.write_bytes(
        pack(b"Name: web\nNamespace: shop\nEvents:\n  Warning  FailedScheduling  5m  x  0/2 nodes are available: 2 Insufficient cpu.\n")
    )

    found = CliRunner().invoke(explain, ["-f", str(described)])

    assert found.exit_code == 0, found.output
    assert "shop/web, 5m ago:" in found.output


def test_a_text_that_is_too_long_is_refused_and_not_truncated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("schedviz.cli.explained_texts._MAX_TEXT_BYTES", 100)
    text = f"{' ' * 100}\nshop/web: 0/2 nodes are available: 2 Insufficient cpu.\n"
    (tmp_path / "text.txt").write_text(text)

    piped = CliRunner().invoke(explain, ["--message", "-"], input=text)
    of_file = CliRunner().invoke(explain, ["-f", str(tmp_path / "text.txt")])

    for found in (piped, of_file):
        assert found.exit_code
        assert "the text has more than 100 bytes. Keep only the scheduler's events: kubectl get events" in found.output


def test_a_card_is_written_as_a_page_or_an_image_in_a_theme():
    def output(*options: str) -> bytes:
        found = CliRunner().invoke(explain, ["large", "-f", "-", *options], input=dump())
        assert found.exit_code == 0, found.output
        return found.stdout_bytes

    assert output("-o", "html").startswith(b"<!doctype html>")
    assert re.search(rb"standard input, \d{4}-\d\d-\d\d \d\d:\d\d UTC", output("--format", "html"))
    light, dark = output("-o", "png"), output("-o", "png", "--theme", "dark")
    assert light[:4] == dark[:4] == b"\x89PNG"
    assert light != dark


def test_the_overview_and_a_message_can_be_written_as_cards_too() -> None:
    found = CliRunner().invoke(explain, ["-f", "-", "-o", "html"], input=dump())
    assert "1 pod is pending" in found.stdout
    message = CliRunner().invoke(explain, ["--message", "0/1 nodes are available: 1 Insufficient cpu.", "-o", "markdown"])
    assert "### The only node does not have enough free CPU." in message.stdout


#: Two messages about one pod, the oldest first as kubectl prints them.
DESCRIBED = (
    "Name: web-0\nNamespace: shop\nEvents:\n"
    "  Warning  FailedScheduling  12m  default-scheduler  0/2 nodes are available: 2 Insufficient memory.\n"
    "  Warning  FailedScheduling  2m  default-scheduler  0/2 nodes are available: 2 node(s) were unschedulable.\n"
)


@pytest.fixture
def described(tmp_path: Path) -> str:
    path = tmp_path / "describe.txt"
    path.write_text(DESCRIBED)
    return str(path)


def test_the_newest_message_about_a_pod_is_explained_and_older_ones_are_quoted(described: str) -> None:
    lines = CliRunner().invoke(explain, ["-f", described]).stdout.splitlines()
    assert lines[0] == "shop/web-0, 2m ago:"
    assert "Earlier, 12m ago: 0/2 nodes are available: 2 Insufficient memory." in lines
    assert not any("too little free memory" in line for line in lines)


@pytest.mark.parametrize("name", ["shop/web-0", "web-0"])
def test_a_described_pod_can_be_written_as_a_card_in_every_format(described: str, name: str) -> None:
    markdown, image = (CliRunner().invoke(explain, [name, "-f", described, "-o", form]) for form in ("markdown", "png"))
    assert markdown.stdout.startswith("### Why `shop/web-0` is pending\n")
    assert "Both nodes are cordoned." in markdown.stdout
    assert image.stdout_bytes[:4] == b"\x89PNG"


def test_a_pod_missing_from_the_description_is_an_error_that_names_the_described_pods(described: str) -> None:
    found = CliRunner().invoke(explain, ["shop/db", "-f", described])
    assert (found.exit_code != 0, found.stdout) == (True, "")
    assert "The text contains no message about pod shop/db, only about shop/web-0." in found.stderr


def test_a_card_of_a_text_about_several_pods_requires_naming_one() -> None:
    rows = [f"1m  Warning  FailedScheduling  pod/{name}  0/1 nodes are available: 1 Insufficient " for name in ("a", "b")]
    alike = CliRunner().invoke(explain, ["--message", "-", "-o", "markdown"], input="\n".join(f"{row}cpu." for row in rows))
    assert alike.stdout.startswith("### Why 2 pods are pending\n\n`a`, `b`\n")

    text = f"{rows[0]}cpu.\n{rows[1]}memory."
    found = CliRunner().invoke(explain, ["--message", "-", "-o", "png"], input=text)
    assert found.exit_code == 2
    assert "shows one pod. Add its name to the command: a, b." in found.output


def test_a_described_pod_missing_from_the_dump_is_named_and_explained(described: str) -> None:
    overview, one = (CliRunner().invoke(explain, [*pod, "-f", "-", "-f", described], input=dump()) for pod in ((), ("web-0",)))
    assert "1 pod is pending" in overview.stdout
    assert f"warning: The objects do not include shop/web-0, mentioned in {described}." in overview.stderr
    assert one.stdout.startswith("shop/web-0, 2m ago:")


def test_the_overview_of_a_pod_without_nodes_explains_each_reason_of_its_message() -> None:
    listed = json.loads(dump())
    said = "0/6 nodes are available: 2 node(s) had untolerated taint {nvidia.com/gpu: present}, 4 Insufficient nvidia.com/gpu."
    status = {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": said}]}
    pod = json.dumps({**listed["items"][1], "status": status})

    found = CliRunner().invoke(explain, ["-f", "-"], input=pod).stdout
    one = CliRunner().invoke(explain, ["large", "-f", "-"], input=pod).stdout
    card = CliRunner().invoke(explain, ["-f", "-", "-o", "markdown"], input=pod).stdout

    # The same sentence as for the message as text, which is quoted once.
    assert (
        "1 pod  None of the 6 nodes can run the pod: 4 do not have enough free `nvidia.com/gpu` and 2 have the untolerated taint" in found
    )
    assert (found.count("kube-scheduler"), found.count(said)) == (1, 1)
    assert "2 nodes have the taint `nvidia.com/gpu=present`, which the pod does not tolerate" in found
    assert "4 nodes do not have enough free `nvidia.com/gpu`" in found
    # The label occurs once; an arrow precedes the remedies for further reasons.
    assert (found.count("Next step: "), found.count("          → ")) == (1, 1)
    assert "- 4 nodes do not have enough free `nvidia.com/gpu`. → " in card
    assert one.index("2 nodes have the taint") < one.index("4 nodes do not have enough free `nvidia.com/gpu`")


def test_a_truncated_file_without_pending_pods_fails_instead_of_reporting_none() -> None:
    listed = json.loads(dump())
    cut = json.dumps({**listed, "items": listed["items"][:1]}).removesuffix("]}") + ', {"kind": "Pod", "meta'
    for form in ("text", "markdown"):
        found = CliRunner().invoke(explain, ["-f", "-", "-o", form], input=cut)
        assert (found.exit_code, "No pod is pending" in found.stdout) == (1, False)
        assert "Only 1 object could be read, and no pending pod is among them: standard input" in found.stdout


def test_a_simulated_message_ends_with_one_full_stop() -> None:
    for form in ("text", "markdown"):
        shown = CliRunner().invoke(explain, ["large", "-f", "-", "-o", form], input=dump()).stdout
        assert "for scheduling." in shown or "incoming pod." in shown
        assert ".." not in shown.replace("…", "")


def test_the_release_warning_is_one_line_and_names_the_option_and_the_list_of_differences() -> None:
    listed = json.loads(dump())
    listed["items"][0]["status"]["nodeInfo"] = {"kubeletVersion": "v1.30.2"}

    warned = CliRunner().invoke(explain, ["-f", "-"], input=json.dumps(listed)).stderr

    assert "v1.36 and no release in between. `--release` simulates another one; `schedviz doctor` lists the known differences." in warned
    assert "Known differences" not in warned
    assert "when you create the session" not in warned


def test_a_text_without_a_message_names_its_other_warnings() -> None:
    text = "ml  71s  Warning  Unhealthy  pod/notebook-0  Readiness probe failed: refused\n"
    found = CliRunner().invoke(explain, ["--message", "-"], input=text)
    assert (found.exit_code, found.output) == (
        0,
        "No event in the files is about scheduling.\n\nPod `ml/notebook-0` has another warning, Unhealthy: Readiness probe failed: refused.\n",
    )


def test_the_explanation_of_a_message_with_a_dump_starts_with_the_autoscalers_message(tmp_path: Path) -> None:
    (tmp_path / "cluster.json").write_text(dump())
    text = (
        "Name: large\nNamespace: default\n"
        "  Warning  FailedScheduling  7m  default-scheduler  0/2 nodes are available: 2 Insufficient cpu.\n"
        "  Normal  NotTriggerScaleUp  2m  cluster-autoscaler  pod didn't trigger scale-up: 1 max node group size reached\n"
    )
    found = CliRunner().invoke(explain, ["large", "-f", str(tmp_path / "cluster.json"), "--message", "-"], input=text)
    assert found.output.startswith(
        "default/large:\nNeither node has enough free CPU. The cluster autoscaler did not add a node: 1 node group is at its maximum size."
    )


def test_the_explanation_of_one_described_pod_starts_with_its_autoscalers_message() -> None:
    text = (
        "Name: web\nNamespace: shop\n"
        "  Warning  FailedScheduling  7m  default-scheduler  0/2 nodes are available: 2 Insufficient cpu.\n"
        "  Normal  NotTriggerScaleUp  2m  cluster-autoscaler  pod didn't trigger scale-up: 1 max node group size reached\n"
    )

    shown = CliRunner().invoke(explain, ["shop/web", "--message", "-"], input=text).output

    assert shown.startswith("shop/web:\nNeither node has enough free CPU. The cluster autoscaler did not add a node: ")
    assert (
        shown.index("Raise the maximum size of a node group") < shown.index("Insufficient cpu") < shown.index("cluster-autoscaler, 2m ago:")
    )


def test_only_the_first_three_changes_are_printed_unless_all_are_requested():
    # The port, the pod that has it, the label and another node: four changes.
    listed = json.loads(dump())
    node, pod = listed["items"]
    node["metadata"]["labels"] = {"pool": "edge"}
    container = {"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 80}]}
    other_node = {**node, "metadata": {"name": "b"}}
    waiting = {**pod, "spec": {"containers": [container], "nodeSelector": {"pool": "edge"}}}
    running = {**pod, "metadata": {"name": "first", "namespace": "default"}, "spec": {"containers": [container], "nodeName": "a"}}
    text = json.dumps({**listed, "items": [node, other_node, waiting, running]})

    brief = CliRunner().invoke(explain, ["large", "-f", "-"], input=text).output
    whole = CliRunner().invoke(explain, ["large", "--all-changes", "-f", "-"], input=text).output

    assert "  Add a node like a, with `pool=edge`\n  Change or remove the host port 80\n" in brief
    assert "Each change was verified by a dry run; 2 more: --all-changes." in brief
    assert "Remove `pool=edge` from the pod's `nodeSelector`" not in brief
    assert "Remove `pool=edge` from the pod's `nodeSelector`" in whole


PENDING_WITHOUT_EVENTS = "Name: web\nNamespace: shop\nStatus: Pending\nContainers:\n  c:\n    Requests:\n      cpu: 1\n"


@pytest.mark.parametrize("arguments", [("--message", "-"), ("-f", "-")])
def test_a_description_without_events_is_reported_as_incomplete(arguments: tuple[str, ...]) -> None:
    refused = CliRunner().invoke(explain, arguments, input=PENDING_WITHOUT_EVENTS).output
    assert "has no Events section" in refused
    assert "`kubectl get events -n shop`" in refused


def test_the_node_selector_is_read_from_a_description_without_its_beginning() -> None:
    text = (
        "Node-Selectors:  pool=gpu\n                 disk=ssd\nEvents:\n  Warning  FailedScheduling  5m  default-scheduler  "
        "0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector.\n"
    )
    shown = CliRunner().invoke(explain, ["--message", "-"], input=text).output
    assert "None of the 4 nodes matches the pod's node selector or affinity (`disk=ssd`, `pool=gpu`)" in shown
    assert "`kubectl get nodes -l disk=ssd,pool=gpu`" in shown
    assert "If it lists some, check the pod's `affinity.nodeAffinity`" in " ".join(shown.split())
    tainted = text.replace("4 node(s) didn't", "1 node(s) had untolerated taint {a: b}, 3 node(s) didn't")
    shown = CliRunner().invoke(explain, ["--message", "-"], input=tainted).output
    assert "If it lists some, compare their taints with the pod's tolerations." in " ".join(shown.split())


def test_a_message_with_a_volume_in_yaml_is_explained(tmp_path):
    issue = tmp_path / "issue.txt"
    issue.write_text(
        "Warning  FailedScheduling  12s  default-scheduler  0/2 nodes are available: 2 node(s) had volume node affinity conflict.\n\n"
        "apiVersion: v1\nkind: PersistentVolume\nmetadata:\n  name: pv-1\nspec:\n  nodeAffinity:\n    required:\n      nodeSelectorTerms:\n"
        "      - matchExpressions:\n        - key: topology.kubernetes.io/zone\n          operator: In\n          values:\n          - eu-1a\n"
        "  claimRef:\n    name: data\n    namespace: shop\n"
    )

    shown = CliRunner().invoke(explain, ["-f", str(issue)])

    assert "The pod's volume `pv-1` can be used only from nodes with `topology.kubernetes.io/zone=eu-1a`." in " ".join(shown.stdout.split())
    assert "No pod is pending" not in shown.output


def test_causes_have_a_heading_and_a_usual_preemption_result_is_omitted():
    said = (
        "0/3 nodes are available: 2 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint {dedicated: db}. "
        "preemption: 0/3 nodes are available: 2 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."
    )
    told = CliRunner().invoke(explain, ["--message", said]).output

    assert told.index("    Common causes:\n") < told.index("    - The node has no such device, or its device plugin is not running.")
    assert "Preemption" not in told
    assert "Some nodes were rejected for more than one reason" not in told


def test_an_unusual_preemption_result_is_shown():
    said = "0/3 nodes are available: 3 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.."
    told = CliRunner().invoke(explain, ["--message", said]).output
    assert "Preemption result\n" in told
    assert "The pod's preemptionPolicy is Never" in " ".join(told.split())


def test_counts_that_exceed_the_number_of_nodes_are_explained():
    said = "0/40 nodes are available: 38 node(s) didn't match Pod's node affinity/selector, 2 Insufficient cpu, 2 Too many pods."
    told = CliRunner().invoke(explain, ["--message", said]).output
    assert "Some nodes were rejected for more than one reason, so the counts add up to more than the number of nodes." in " ".join(
        told.split()
    )


@pytest.mark.parametrize(
    ("requested", "headline"),
    [
        ("1", "The only node has no free `nvidia.com/gpu`; the pod requests 1"),
        ("4", "The only node does not have enough free `nvidia.com/gpu`; the pod requests 4"),
    ],
)
def test_a_device_is_named_once_with_the_requested_number(requested: str, headline: str):
    text = (
        f"Name:         trainer\nNamespace:    ml\nContainers:\n  c:\n    Image:  i\n    Limits:\n      nvidia.com/gpu:  {requested}\n"
        f"    Requests:\n      nvidia.com/gpu:  {requested}\nEvents:\n  Warning  FailedScheduling  5m  default-scheduler  "
        "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.\n"
    )
    told = CliRunner().invoke(explain, ["-f", "-"], input=text).output

    assert f"{headline}\n" in told


def test_a_message_with_the_manifest_of_its_pod_is_explained_for_that_pod(tmp_path: Path) -> None:
    pod = tmp_path / "pod.yaml"
    pod.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: probe, namespace: lab}\nspec:\n  containers:\n"
        "  - {name: c, image: i, resources: {limits: {example.com/gpu: 2}}}\n"
    )
    event = tmp_path / "event.txt"
    event.write_text("Warning  FailedScheduling  default-scheduler\n  0/2 nodes are available:\n  2 Insufficient example.com/gpu.\n")

    told = CliRunner().invoke(explain, ["-f", str(pod), "-f", str(event)]).stdout

    assert told.startswith("lab/probe:")
    assert "Neither node has enough free `example.com/gpu`; the pod requests 2" in " ".join(told.split())
    # A manifest without a status has no message.
    assert "Not evaluated: there are no nodes" in CliRunner().invoke(explain, ["-f", str(pod)]).stdout


def test_an_unbound_claim_is_named_with_its_namespace() -> None:
    text = (
        "Namespace: shop\n\nNAME    READY   STATUS    RESTARTS   AGE\nweb-0   0/1     Pending   0          5m\n\n--- Description for web-0 ---\n"
        "Volumes:\n  data:\n    Type:       PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)\n"
        "    ClaimName:  data-web\nQoS Class:       Burstable\nNode-Selectors:  <none>\nTolerations:     <none>\nEvents:\n"
        "  Warning  FailedScheduling  1m  default-scheduler  0/4 nodes are available: pod has unbound immediate PersistentVolumeClaims.\n"
    )
    found = CliRunner().invoke(explain, ["--message", "-"], input=text)
    assert found.stdout.startswith("shop/web-0, 1m ago:\n")
    assert "The claim `data-web` is not bound" in found.stdout
    assert "kube-scheduler: pod has unbound immediate PersistentVolumeClaims  [VolumeBinding]" in found.stdout
    assert "`kubectl describe pvc data-web -n shop`" in found.stdout


def test_a_reason_of_the_scheduler_itself_has_no_plugin() -> None:
    found = CliRunner().invoke(explain, ["--message", "-"], input="0/1 nodes are available: skip schedule deleting pod: shop/web.")
    assert "kube-scheduler: skip schedule deleting pod: shop/web" in found.output
    assert "plugin" not in found.output


def test_a_table_without_a_message_names_the_command_to_run():
    table = "Pods:\n`$ kubectl get pods -A\nNAMESPACE   NAME        READY   STATUS    RESTARTS   AGE\nshop        pod/web-1   0/1     Pending   0          32m\n"
    result = CliRunner().invoke(explain, ["-f", "-"], input=f"key: `a\n{table}")
    assert result.exit_code != 0
    assert "does not show why a pod is pending. Pass the output of: kubectl describe pod web-1 -n shop" in result.output
