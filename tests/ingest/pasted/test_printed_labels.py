"""Node selectors and labels of nodes that commands print are read."""

from __future__ import annotations

import pytest

from schedviz.ingest.pasted.printed_labels import printed_labels, printed_selectors

SELECTOR = "$ kubectl get deployment web -n shop -o jsonpath='{.spec.template.spec.nodeSelector}' | jq\n"
LABELS = "$ kubectl get node -o jsonpath='{.items[0].metadata.labels}' | jq\n"


def test_the_selector_and_the_labels_that_commands_print_as_json_are_read() -> None:
    text = f'{SELECTOR}{{\n  "disk": "ssd"\n}}\n{LABELS}{{\n  "disk": "hdd",\n  "kubernetes.io/os": "linux"\n}}\n'
    assert list(printed_selectors(text)) == [{"disk": "ssd"}]
    assert list(printed_labels(text)) == [{"disk": "hdd", "kubernetes.io/os": "linux"}]


def test_the_column_of_labels_is_read() -> None:
    text = (
        "NAME   STATUS   ROLES    AGE   VERSION   LABELS\n"
        "a-1    Ready    <none>   4d    v1.33.2   disk=hdd,zone=a\n"
        "a-2    Ready    <none>   4d    v1.33.2   disk=,gpu=true\n"
    )
    assert list(printed_labels(text)) == [{"disk": "hdd", "zone": "a"}, {"disk": "", "gpu": "true"}]


@pytest.mark.parametrize("printed", ["{disk: ssd}", '{"disk": 1}', "null", '{"disk": {"size": "1"}}'])
def test_other_output_is_no_selector(printed: str) -> None:
    assert list(printed_selectors(f"{SELECTOR}{printed}\n")) == []


def test_labels_of_other_objects_are_not_those_of_nodes() -> None:
    text = '$ kubectl get pod web -o jsonpath=\'{.metadata.labels}\'\n{"app": "web"}\n'
    assert list(printed_labels(text)) == []
