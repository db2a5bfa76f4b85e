"""Calls of extenders over HTTP: requests, the effect of responses, and addresses that are not called."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from schedviz.cli.trace import trace
from schedviz.engine import Simulation, SimulationSettings
from schedviz.kube.codec import from_dict
from schedviz.sessions.extenders.http import MAX_RESPONSE_BYTES, HttpTransport
from schedviz.trace.commands import convert_command
from schedviz.trace.events import ApiWritten, CycleEnded, ExtenderAnswered
from tests.extender_server import ExtenderServer
from tests.sessions.conftest import node, pod


@pytest.fixture
def server() -> Iterator[ExtenderServer]:
    with ExtenderServer().running() as running:
        yield running


def simulation_of(server: ExtenderServer, *objects: dict[str, Any], hosts: tuple[str, ...] | None = None, **members: Any) -> Simulation:
    simulation = Simulation(SimulationSettings(config=server.config(**members)))
    simulation.extender_calls.transport = HttpTransport((server.host,) if hosts is None else hosts)
    simulation.load([from_dict(one) for one in objects or (node("a"), node("b"), node("c"), pod("p"))])
    return simulation


def run(simulation: Simulation) -> list[Any]:
    simulation.start(convert_command({"op": "cycle"}))
    assert simulation.work() is not None
    return list(simulation.drain_events())


def cycle(simulation: Simulation) -> CycleEnded:
    return next(event for event in run(simulation) if isinstance(event, CycleEnded))


def names(args: dict[str, Any]) -> list[str]:
    return [item["metadata"]["name"] for item in args["Nodes"]["items"]]


def test_filter_sends_nodes_and_keeps_the_returned_ones(server: ExtenderServer) -> None:
    server.answers["filter"] = lambda args: {
        "Nodes": {"items": [one for one in args["Nodes"]["items"] if one["metadata"]["name"] == "b"]},
        "FailedNodes": {"a": "too far"},
        "FailedAndUnresolvableNodes": {"c": "never"},
        "Error": "",
    }
    ended = cycle(simulation_of(server, filterVerb="filter"))

    assert ended.node == "b"
    [(_, args)] = server.requests
    assert names(args) == ["a", "b", "c"]
    assert args["NodeNames"] is None
    assert args["Pod"]["metadata"]["name"] == "p"
    assert args["Pod"]["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "10m"}
    assert "unread" not in args["Pod"]


def test_a_node_cache_capable_extender_gets_names_and_the_returned_order_is_kept(server: ExtenderServer) -> None:
    server.answers["filter"] = lambda args: {"nodenames": args["NodeNames"][::-1]}
    ended = cycle(simulation_of(server, filterVerb="filter", nodeCacheCapable=True))

    assert server.requests[0][1]["Nodes"] is None
    assert server.requests[0][1]["NodeNames"] == ["a", "b", "c"]
    assert ended.tied == ["c", "b", "a"]


def test_reasons_of_an_extender_are_in_the_message(server: ExtenderServer) -> None:
    server.answers["filter"] = lambda _: {"FailedNodes": {"a": "too far", "b": "too far"}, "FailedAndUnresolvableNodes": {"c": "never"}}
    ended = cycle(simulation_of(server, filterVerb="filter"))

    assert ended.message.startswith("0/3 nodes are available: 1 never, 2 too far.")


def test_scores_are_weighted_and_scaled(server: ExtenderServer) -> None:
    server.answers["prioritize"] = lambda _: [{"Host": "c", "Score": 7}, {"Host": "elsewhere", "Score": 10}]
    ended = cycle(simulation_of(server, prioritizeVerb="prioritize", weight=3))

    assert ended.node == "c"
    assert ended.winner is not None
    assert [(score.raw, score.weighted) for score in ended.winner.scores if score.plugin == server.url] == [(7, 210)]


@pytest.mark.parametrize("cached", [False, True])
def test_preemption_evicts_the_victims_that_the_extender_keeps(server: ExtenderServer, *, cached: bool) -> None:
    def preempt(args: dict[str, Any]) -> Any:
        if cached:
            return {"NodeNameToMetaVictims": {"b": args["NodeNameToMetaVictims"]["b"]}}
        victims = args["NodeNameToVictims"]["b"]["Pods"]
        return {"NodeNameToMetaVictims": {"b": {"Pods": [{"UID": victim["metadata"]["uid"]} for victim in victims]}}}

    server.answers["preempt"] = preempt
    objects = [node("a", cpu="1"), node("b", cpu="1")]
    for place in ("a", "b"):
        victim = pod(f"on-{place}", cpu="1")
        victim["metadata"]["uid"] = f"uid-{place}"
        victim["spec"] |= {"nodeName": place, "priority": 0}
        objects.append(victim)
    preemptor = pod("p", cpu="1")
    preemptor["spec"]["priority"] = 10
    simulation = simulation_of(server, *objects, preemptor, preemptVerb="preempt", nodeCacheCapable=cached)

    events = run(simulation)

    assert [event.key for event in events if isinstance(event, ApiWritten) and event.verb == "delete"] == ["default/on-b"]


def test_an_unknown_victim_is_an_error(server: ExtenderServer) -> None:
    server.answers["preempt"] = lambda _: {"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "nobody"}]}}}
    victim = pod("on-a", cpu="1")
    victim["spec"] |= {"nodeName": "a", "priority": 0}
    preemptor = pod("p", cpu="1")
    preemptor["spec"]["priority"] = 10

    events = run(simulation_of(server, node("a", cpu="1"), victim, preemptor, preemptVerb="preempt"))

    message = f"extender: {server.url} claims to preempt pod (UID: &{{nobody}}) on node: a, but the pod is not found on that node"
    assert any(message in str(event) for event in events)
    assert not any(isinstance(event, ApiWritten) and event.verb == "delete" for event in events)


def test_bind_sends_the_pod_and_the_node(server: ExtenderServer) -> None:
    server.answers["bind"] = lambda _: {"Error": ""}
    simulation = simulation_of(server, node("a"), pod("p"), bindVerb="bind")

    events = run(simulation)

    [(_, args)] = server.requests
    assert (args["PodName"], args["PodNamespace"], args["Node"]) == ("p", "default", "a")
    assert any(isinstance(event, ApiWritten) and event.subresource == "binding" for event in events)


def test_a_bind_error_fails_the_binding(server: ExtenderServer) -> None:
    server.answers["bind"] = lambda _: {"Error": "no"}
    events = run(simulation_of(server, node("a"), pod("p"), bindVerb="bind"))

    assert not any(isinstance(event, ApiWritten) and event.subresource == "binding" for event in events)


def failing(server: ExtenderServer, answer: Any = b"{}", **members: Any) -> tuple[str, ExtenderAnswered]:
    server.answers["filter"] = lambda _: answer
    hosts = members.pop("hosts", None)
    events = run(simulation_of(server, hosts=hosts, filterVerb="filter", **members))
    message = next(event.message for event in events if isinstance(event, CycleEnded))
    return message, next(event for event in events if isinstance(event, ExtenderAnswered))


def test_an_http_error_is_reported_as_upstream_reports_it(server: ExtenderServer) -> None:
    server.statuses["filter"] = 500
    assert failing(server)[0] == f"failed filter with extender at URL {server.url}/filter, code 500"


def test_redirects_are_not_followed(server: ExtenderServer) -> None:
    server.statuses["filter"] = 307
    assert failing(server)[0] == f"failed filter with extender at URL {server.url}/filter, code 307"
    assert [verb for verb, _ in server.requests] == ["filter"]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"garbage", "invalid character 'g' looking for beginning of value"),
        (b"", "EOF"),
        (b'{"Nodes": ', "unexpected EOF"),
        (b"[" * 100_000, "invalid character '[' exceeded max depth"),
        (b"[]", "json: cannot unmarshal array into Go value of type v1.ExtenderFilterResult"),
        (
            b'{"FailedNodes": 7}',
            "json: cannot unmarshal number into Go struct field ExtenderFilterResult.FailedNodes of type v1.FailedNodesMap",
        ),
        (b'{"Error": "out of order"} and more', "out of order"),
    ],
)
def test_a_malformed_response_is_an_error(server: ExtenderServer, answer: bytes, message: str) -> None:
    assert failing(server, answer)[0] == message


def test_a_response_has_a_maximum_size(server: ExtenderServer) -> None:
    message, answered = failing(server, b" " * (MAX_RESPONSE_BYTES + 1))
    assert message == f'Post "{server.url}/filter": the response has more than {MAX_RESPONSE_BYTES} bytes'
    assert answered.size == 0


def test_a_slow_response_ends_at_the_timeout_even_if_data_keeps_arriving(server: ExtenderServer) -> None:
    server.drip_seconds = 0.05
    began = time.monotonic()
    message, _ = failing(server, b" " * 1000, httpTimeout="300ms")
    assert time.monotonic() - began < 1000 * server.drip_seconds
    assert message == f'Post "{server.url}/filter": context deadline exceeded (Client.Timeout exceeded while awaiting headers)'


def test_a_refused_connection_is_reported_as_go_reports_it(server: ExtenderServer) -> None:
    simulation = simulation_of(server, hosts=("127.0.0.1:1",), urlPrefix="http://127.0.0.1:1", filterVerb="filter")
    assert cycle(simulation).message == 'Post "http://127.0.0.1:1/filter": dial tcp 127.0.0.1:1: connect: connection refused'


@pytest.mark.parametrize("hosts", [(), ("127.0.0.1",), ("localhost:80",)])
def test_a_host_that_is_not_listed_is_not_called(server: ExtenderServer, hosts: tuple[str, ...]) -> None:
    message, answered = failing(server, hosts=hosts)
    assert message == f'Post "{server.url}/filter": schedviz does not call {server.host}: it is not listed in SCHEDVIZ_EXTENDER_HOSTS'
    assert answered.error == message
    assert server.requests == []


def test_a_failing_ignorable_extender_is_skipped(server: ExtenderServer) -> None:
    server.statuses["filter"] = 500
    server.answers["filter"] = lambda _: {}
    assert cycle(simulation_of(server, filterVerb="filter", ignorable=True)).outcome == "scheduled"


def test_responses_are_recorded(server: ExtenderServer) -> None:
    body = b'{"NodeNames": ["b"]}' + b" " * 5000
    _, answered = failing(server, body, nodeCacheCapable=True)
    assert (answered.extender, answered.verb, answered.size) == (server.url, "filter", len(body))
    assert answered.answer == body[:1000].decode()
    assert len(answered.digest) == 32


def test_the_command_line_calls_only_the_given_extender_hosts(server: ExtenderServer, tmp_path: Path) -> None:
    server.answers["filter"] = lambda _: {"NodeNames": ["b"]}
    steps = [{"op": "create", "object": one} for one in (node("a"), node("b"), pod("p"))]
    document = {
        "format": "schedviz-trace/1",
        "name": "called",
        "config": server.config(filterVerb="filter", nodeCacheCapable=True),
        "steps": [*steps, {"op": "cycle"}],
    }
    (tmp_path / "called.json").write_text(json.dumps(document))
    target = tmp_path / "out"

    for hosts in ([], ["--call-extenders", server.host]):
        result = CliRunner().invoke(trace, [str(tmp_path / "called.json"), "-o", str(target), *hosts])
        assert result.exit_code == 0, result.output
        written = json.loads((target / "called.json").read_text())
        assert written["steps"][-1]["observed"]["cycle"]["node"] == ("b" if hosts else "")
        assert len(server.requests) == (1 if hosts else 0)
