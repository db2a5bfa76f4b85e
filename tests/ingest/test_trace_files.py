"""schedviz-trace/1 files."""

import copy
import json
from typing import get_args

import pytest

from schedviz.ingest import trace_file
from schedviz.ingest.errors import IngestError
from schedviz.ingest.load import load
from schedviz.ingest.trace_file import Dump, _FileStep, decode_trace, trace_from_dict
from schedviz.kube.errors import DecodeError
from schedviz.trace.commands import Advance, Create, Cycle
from schedviz.trace.policies import Policies, PriorityPolicy
from tests.ingest.sources import SAMPLES, imported, sample, source

TRACE = json.loads((SAMPLES / "trace.json").read_text())


def refusal(change):
    document = copy.deepcopy(TRACE)
    change(document)
    with pytest.raises(DecodeError) as caught:
        trace_from_dict(document)
    return str(caught.value)


def test_a_trace_has_policies():
    trace = trace_from_dict({**TRACE, "policies": {"cache": "v1.14", "priorities": [{"name": "LeastRequestedPriority", "weight": 2}]}})

    assert trace.policies == Policies(cache="v1.14", priorities=[PriorityPolicy(name="LeastRequestedPriority", weight=2)])
    assert trace.policies.ttl_seconds(trace.assumed_pod_ttl_seconds) == 30
    assert trace_from_dict(TRACE).policies == Policies()


@pytest.mark.parametrize(
    ("policies", "words"),
    [
        ({"preemption": "v1.19"}, 'policies.preemption: expected one of v1.18, v1.27, found "v1.19"'),
        ({"priorities": [{"name": "A"}]}, "policies.priorities[0]: there is no priority A; there are "),
        ({"priorities": [{"name": "EqualPriority"}] * 2}, "policies: priority EqualPriority is listed twice"),
    ],
)
def test_unknown_policies_are_named(policies, words):
    assert refusal(lambda document: document.update(policies=policies)).startswith(words)


def test_a_trace_has_settings_and_commands():
    trace = trace_from_dict({**TRACE, "assumedPodTTLSeconds": 30, "recordState": "last", "tickMillis": 2, "gracefulVictims": True})
    assert [type(step) for step in trace.steps] == [Create, Create, Cycle]
    assert (trace.name, trace.assumed_pod_ttl_seconds, trace.record_state, trace.tick_millis) == ("sample", 30, "last", 2)
    assert trace.graceful_victims
    assert trace.pod_max_in_unschedulable_seconds == 300
    assert trace.document["steps"][2] == {"op": "cycle", "observed": {"clockSeconds": 0.003}}


def test_an_import_of_a_trace_gives_the_trace_and_no_objects():
    result = sample("trace.json")
    assert result.trace is not None
    assert len(result.trace.steps) == 3
    assert result.objects == ()
    assert result.report.files[0].format == "schedviz-trace/1"


def test_a_trace_is_imported_alone():
    result = load([source('{"kind":"Node","metadata":{"name":"a"}}', "a"), source(json.dumps(TRACE), "b")])
    (refused,) = result.report.refused
    assert refused.message == "b: this is a trace, which must be imported without other files."


def test_a_dump_may_be_a_step():
    trace = trace_from_dict({**TRACE, "logging": {"v": 4}, "steps": [{"op": "dump"}, {"op": "advance", "seconds": 5}]})
    assert trace.steps == (Dump(), Advance(seconds=5))
    assert trace.logging.v == 4


@pytest.mark.parametrize(
    ("logging", "message"),
    [
        ({"v": -1}, "logging.v: expected a whole number of at least 0, found -1"),
        ({"v": 11}, "logging.v: expected a whole number of at most 10, found 11"),
        ({"v": "5"}, 'logging.v: expected a whole number, found "5"'),
        ({"format": "xml"}, 'logging.format: expected one of json, text, found "xml"'),
        ({"pid": -1}, "logging.pid: expected a whole number of at least 0, found -1"),
        ({"verbosity": 5}, "logging.verbosity: unknown field; there are v, format, pid"),
    ],
)
def test_invalid_logging_values_are_named(logging: dict[str, object], message: str):
    with pytest.raises(DecodeError) as error:
        trace_from_dict({**TRACE, "logging": logging})
    assert str(error.value) == message


OPERATIONS = f"expected one of {', '.join(sorted(step.__struct_config__.tag for step in get_args(_FileStep)))}"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t["steps"][2].update(op="fly"), f'steps[2].op: {OPERATIONS}, found "fly"'),
        (lambda t: t["steps"][2].pop("op"), f"steps[2].op: {OPERATIONS}, found nothing"),
        (lambda t: t["steps"][2].update(op="pause"), "steps[2].op: the operation 'pause' is not available in a file"),
        (lambda t: t["steps"][2].update(pod="x"), "steps[2].pod: unknown field; there is none"),
        (lambda t: t["steps"][0]["object"].update(foo=1), "steps[0].object.foo: unknown field"),
        (lambda t: t["steps"][1]["object"]["spec"].update(nodeName=1), "steps[1].object.spec.nodeName: expected a string, found 1"),
        (
            lambda t: t["steps"][1]["object"]["spec"]["containers"][0]["resources"]["requests"].update(cpu="10x"),
            'steps[1].object.spec.containers[0].resources.requests.cpu: "10x" is not a quantity',
        ),
        (lambda t: t.update(steps={}), "steps: expected a list, found an object"),
        (lambda t: t.update(tickMillis="x"), 'tickMillis: expected a whole number, found "x"'),
        (lambda t: t.update(logging={"colour": 1}), "logging.colour: unknown field; there are v, format, pid"),
        (lambda t: t.update(format="schedviz-trace/2"), 'format: expected "schedviz-trace/1", found "schedviz-trace/2"'),
        (lambda t: t.pop("steps"), "steps: expected a value, found nothing"),
    ],
)
def test_an_error_is_reported_with_its_path(change, message):
    assert refusal(change) == message


def test_an_import_names_the_file_of_a_broken_trace():
    with pytest.raises(IngestError) as caught:
        imported('{"format":"schedviz-trace/1","steps":[{"op":"fly"}]}')
    assert str(caught.value) == f'dump: steps[0].op: {OPERATIONS}, found "fly"'


def test_a_trace_that_is_not_json_is_refused():
    with pytest.raises(DecodeError, match=r"^this is not JSON"):
        decode_trace(b"[[[")


@pytest.mark.parametrize(("value", "is_valid"), [(-(2**63) - 1, False), (-(2**63), True), (2**64 - 1, True), (2**64, False)])
def test_an_integer_of_more_than_64_bits_is_refused_with_its_path(value: int, *, is_valid: bool):
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"capacity": {"cpu": value}}}
    text = json.dumps({"format": "schedviz-trace/1", "steps": [{"op": "create", "object": node}]}).encode()
    if is_valid:
        decode_trace(text, check_objects=False)
        return
    with pytest.raises(DecodeError, match=r"steps\[0\].object.status.capacity.cpu: expected an integer of at most 64 bits"):
        decode_trace(text, check_objects=False)


def test_the_number_of_steps_is_limited(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trace_file, "MAX_STEPS", 2)
    text = b'{"format": "schedviz-trace/1", "steps": [%s]}' % b",".join([b'{"op": "snapshot"}'] * 3)

    with pytest.raises(DecodeError, match=r"steps.*at most 2 steps.*3"):
        decode_trace(text)


def test_a_trace_that_is_nested_too_deep_is_refused():
    text = json.dumps(TRACE)[:-1] + ', "deep": ' + "[" * 100_000 + "]" * 100_000 + "}"
    with pytest.raises(IngestError, match="nested too deep"):
        load([source(text, "trace.json")])
