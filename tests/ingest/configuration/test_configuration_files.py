"""A KubeSchedulerConfiguration among the files of an import."""

import json

import pytest

from schedviz.ingest.errors import IngestError
from tests.ingest.sources import imported

NODE = json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
YAML = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: 3\n"


@pytest.mark.parametrize(
    "text", [YAML, json.dumps({**HEAD, "parallelism": 3}), json.dumps({"kind": "List", "items": [{**HEAD, "parallelism": 3}]})]
)
def test_a_configuration_among_the_files_is_that_of_the_session(text):
    result = imported(NODE, text)

    assert result.config == {**HEAD, "parallelism": 3}
    assert result.report.configuration == "dump-2"
    assert result.report.kinds == {"Node": 1}


def test_two_configurations_are_refused():
    with pytest.raises(IngestError, match=r"dump-2 also contains a KubeSchedulerConfiguration\. Remove one of them"):
        imported(NODE, YAML, YAML)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (YAML.replace("parallelism: 3", "parallelism: 0"), "dump-2: parallelism: Invalid value: 0: should be an integer value greater"),
        (YAML + "foo: 1\n", 'dump-2: strict decoding error: unknown field "foo"'),
        (json.dumps(HEAD)[:-1] + ', "parallelism": 1, "parallelism": 2}', 'strict decoding error: duplicate field "parallelism"'),
        (YAML.replace("/v1", "/v1alpha1"), "`schedviz config FILE --convert` writes it as v1"),
    ],
)
def test_errors_in_a_configuration_are_reported(text, words):
    with pytest.raises(IngestError) as caught:
        imported(NODE, text)

    assert words in str(caught.value)


def test_a_configuration_without_objects_is_refused():
    with pytest.raises(IngestError, match="it contains nothing to import"):
        imported(YAML)
