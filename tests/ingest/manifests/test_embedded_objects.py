"""Objects and messages are read from text around them: Markdown, prose, prompts."""

from __future__ import annotations

import pytest

from schedviz.ingest.errors import IngestError
from schedviz.ingest.load import Import, load
from tests.ingest.sources import source

POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  nodeName: n1\n  containers:\n  - name: main\n    image: x\n"
NODE = "kind: Node\nmetadata:\n  name: n1\nstatus:\n  allocatable:\n    cpu: 4\n"
MESSAGE = "0/1 nodes are available: 1 Insufficient cpu."


def read(text: str) -> Import:
    return load([source(text.encode(), "pasted.txt")])


def names(result: Import) -> list[str]:
    return [f"{type(obj).__name__} {obj.name}" for obj in result.objects]


def indented(text: str, by: str) -> str:
    return "".join(f"{by}{line}\n" for line in text.splitlines())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"# My pod\n\nIt waits.\n\n```yaml\n{POD}```\n\nThe node:\n\n~~~\n{NODE}~~~\nThanks: all\n", id="fences"),
        pytest.param(f"It waits.\n\n{POD}\nThe node is this one:\n\n{NODE}\nWhat now?\n", id="prose"),
        pytest.param(indented(f"It waits.\n```\n{POD}---\n{NODE}```\n", "> "), id="a quote"),
        pytest.param(
            f"1. the pod\n\n{indented(f'```yaml{chr(10)}{POD}```', '   ')}\n\n```\n$ kubectl get node n1 -o yaml\n{NODE}```\n",
            id="a list, and a prompt",
        ),
        pytest.param(
            '```json\n{"kind": "List", "items": [{"kind": "Node", "metadata": {"name": "n1"}}]}\n```\n\n```yaml\n' + POD + "```\n",
            id="JSON and YAML",
        ),
        pytest.param(f"$ kubectl get pod web -o yaml\n{POD}$ kubectl get node n1 -o yaml\n{NODE}$ \n", id="a terminal"),
    ],
)
def test_the_objects_in_a_markdown_text_are_read(text: str) -> None:
    assert sorted(names(read(text))) == ["Node n1", "Pod web"]


def test_a_message_beside_the_objects_belongs_to_its_pod() -> None:
    result = read(
        f"```\nWarning  FailedScheduling  pod/web  {MESSAGE}\n```\n\n```yaml\n{POD.replace('  nodeName: n1' + chr(10), '')}```\n{NODE}"
    )

    assert [(message.pod, message.message) for message in result.messages] == [("default/web", MESSAGE)]


def test_a_block_that_is_not_yaml_is_skipped_with_its_line() -> None:
    result = read(f"Text.\n\n```yaml\n{NODE}```\n\n```yaml\nkind: Pod\nmetadata: {{name: 'b\n```\n")

    assert names(result) == ["Node n1"]
    [skipped] = result.report.skipped
    assert "line 1" in skipped.message
    assert "not YAML" in skipped.message


def test_blocks_without_objects_are_skipped() -> None:
    result = read(f"```sh\nkubectl get pods\n```\n```\nNAME  READY\nweb  0/1\n```\n```yaml\n{NODE}```\n")

    assert (names(result), result.report.skipped) == (["Node n1"], ())


def test_yaml_with_a_fence_in_a_text_is_read_as_yaml() -> None:
    result = read(f"{NODE}---\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n  readme: |\n    ```\n    kind: Pod\n    ```\n")

    assert names(result) == ["Node n1"]
    assert [drop.kind for drop in result.report.dropped] == ["ConfigMap"]


@pytest.mark.parametrize(
    "text",
    [
        f"Warning  FailedScheduling  5m  default-scheduler  {MESSAGE}",
        f"```\n{MESSAGE}\n```",
        f"status:\n  conditions:\n  - message: '{MESSAGE}'\n    type: PodScheduled\n",
        f"Name:  web\nNamespace:  default\nEvents:\n  Warning  FailedScheduling  5m  default-scheduler  {MESSAGE}\n",
    ],
)
def test_a_text_with_only_messages_says_how_to_explain_them(text: str) -> None:
    with pytest.raises(IngestError, match=r"contains? messages of the scheduler, but no Kubernetes objects.*explain -f FILE"):
        read(text)


def test_a_text_with_a_message_is_not_refused_for_its_syntax() -> None:
    excerpt = f"Capacity:\n  cpu:  6\nAllocatable:\n  cpu:  5840m\n\nEvents:\n  Type  Reason\n  Warning  FailedScheduling  10h  default-scheduler  {MESSAGE}\n"
    with pytest.raises(IngestError, match="no Kubernetes objects") as refused:
        read(excerpt)
    assert "YAML" not in str(refused.value)


def test_a_text_with_neither_is_refused_as_before() -> None:
    with pytest.raises(IngestError, match="expected JSON or YAML"):
        read("hello\n")


@pytest.mark.parametrize("piece", ["```\n", "> ", "kind: Pod\n", "apiVersion: v1\nx\n", "  - ", "~~~ kind:\n"])
def test_hostile_texts_are_read_in_linear_time(piece: str) -> None:
    # Quadratic time would take minutes.
    with pytest.raises(IngestError):
        read(piece * (300_000 // len(piece)))
