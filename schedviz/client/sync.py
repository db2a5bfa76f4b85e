# Generated from aio.py by tools/unasync.py (make gen): do not edit.
"""`Client` and `Session`: a server and a session on it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from schedviz.client import command_bodies, decoding, flows, kubectl, runtime, sending
from schedviz.client.calls import Call, Flow, Pause, ask
from schedviz.client.default_server import DefaultServer
from schedviz.client.flows import IMPORT_SECONDS
from schedviz.client.limits import MAX_ERROR_BYTES, Lines, TooLarge
from schedviz.client.records import Records, records
from schedviz.client.results import Comparison, Explanation, Outcome, State, WhatIf
from schedviz.client.server import find_server
from schedviz.client.session_info import SessionInfo

T = TypeVar("T")


class Client:
    """A server. Without arguments: that of SCHEDVIZ_SERVER and SCHEDVIZ_TOKEN, otherwise the `schedviz up` on this machine."""

    def __init__(self, server: str | None = None, token: str | None = None) -> None:
        self.server = find_server(server, token)
        self._http = httpx.Client(**sending.options(self.server))
        runtime.close_with(self, self._http)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def do(self, flow: Flow[T]) -> T:
        """Run a flow."""
        steps = sending.with_retries(flow, self.server)
        outcome: sending.CallResult = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as ended:
                result: T = ended.value
                return result
            outcome = self._carry_out(step)

    def _carry_out(self, step: Call | Pause) -> sending.CallResult:
        if isinstance(step, Pause):
            runtime.sleep(step.seconds)
            return None
        try:
            with self._http.stream(**sending.request_of(step)) as response:
                return sending.reply_of(response, _read(response, step.max_bytes))
        except httpx.TransportError as lost:
            return lost

    def call(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Call any address of the REST API: `client.call("GET", "quotas/")`. Returns the decoded JSON."""
        return self.do(ask(Call(method, path, query, body)))

    def sessions(self, *, name: str = "", status: str = "", most: int | None = None) -> Records:
        """The sessions that you may view, newest first. `name` matches part of the name."""
        query = {key: value for key, value in (("q", name), ("status", status)) if value}
        return records(self.do(flows.listed("sessions/", query, most=most, page=200)))

    def session(self, session: str) -> Session:
        """An existing session, by its ID. Raises `NotFound`."""
        return Session(self, self.call("GET", f"sessions/{session}/"))

    def from_files(
        self,
        *paths: str | Path,
        name: str = "",
        config: flows.Config | None = None,
        settings: Mapping[str, Any] | None = None,
        release: str = "",
        feature_gates: Mapping[str, bool] | None = None,
        wait: bool = True,
        timeout: float = IMPORT_SECONDS,
    ) -> Session:
        """Create a session from files and folders in any format of docs/readers.md. `config`: a KubeSchedulerConfiguration, or its file.
        Raises `ImportFailed`.
        """
        files = runtime.run(flows.read_files, paths)
        flow = flows.new_session(
            name=name or flows.name_of(paths), files=files, config=config, settings=settings, release=release, feature_gates=feature_gates
        )
        return self._made(flow, wait, timeout)

    def from_kubectl(
        self,
        *,
        context: str | None = None,
        kubeconfig: str | None = None,
        name: str = "",
        config: flows.Config | None = None,
        settings: Mapping[str, Any] | None = None,
        release: str = "",
        feature_gates: Mapping[str, bool] | None = None,
        wait: bool = True,
        timeout: float = IMPORT_SECONDS,
    ) -> Session:
        """Create a session from kubectl's current cluster, read with your own permissions. Raises `KubectlError` or `ImportFailed`."""
        files = runtime.run(kubectl.read_cluster, context=context, kubeconfig=kubeconfig)
        flow = flows.new_session(
            name=name or context or "kubectl", files=files, config=config, settings=settings, release=release, feature_gates=feature_gates
        )
        return self._made(flow, wait, timeout)

    def generate(
        self,
        *,
        name: str = "",
        config: flows.Config | None = None,
        settings: Mapping[str, Any] | None = None,
        release: str = "",
        feature_gates: Mapping[str, bool] | None = None,
        wait: bool = True,
        timeout: float = IMPORT_SECONDS,
        **cluster: Any,
    ) -> Session:
        """Create a session with a generated cluster: `nodes`, `pods`, `shape`, `zones`, `seed`, `gpus`, `gpuModel`, `partitions`."""
        flow = flows.new_session(
            name=name, config=config, settings=settings, release=release, feature_gates=feature_gates, generate=cluster
        )
        return self._made(flow, wait, timeout)

    def from_objects(
        self,
        objects: Sequence[Mapping[str, Any]],
        *,
        name: str = "objects",
        config: flows.Config | None = None,
        settings: Mapping[str, Any] | None = None,
        release: str = "",
        feature_gates: Mapping[str, bool] | None = None,
        wait: bool = True,
        timeout: float = IMPORT_SECONDS,
    ) -> Session:
        """Create a session from Kubernetes objects, as dicts. Raises `ImportFailed`."""
        flow = flows.new_session(
            name=name, files=[flows.objects_file(objects)], config=config, settings=settings, release=release, feature_gates=feature_gates
        )
        return self._made(flow, wait, timeout)

    def compare(self, a: Session | str, b: Session | str) -> Comparison:
        """Compare two sessions, or moments of sessions (`<id>@<event>`)."""
        first, second = (session if isinstance(session, str) else session.id for session in (a, b))
        return self.do(flows.compare(first, second))

    def _made(self, flow: Flow[dict[str, Any]], wait: bool, timeout: float) -> Session:  # noqa: FBT001 -- internal.
        made = Session(self, self.do(flow))
        return made.wait(timeout) if wait else made

    def stream(self, path: str, query: Mapping[str, Any], headers: Mapping[str, str]) -> Iterator[str]:
        """The lines of a response, as they arrive. Raises `Refused` or `Unavailable`."""
        try:
            with self._http.stream("GET", path, params=dict(query), headers=dict(headers), timeout=sending.STREAM_TIMEOUT) as response:
                if response.status_code >= 400:
                    sending.reply_of(response, _read(response, MAX_ERROR_BYTES)).json()
                lines = Lines()
                for data in decoding.pieces(response):
                    try:
                        for line in lines.add(data):
                            yield line.decode()
                    except TooLarge as error:
                        raise sending.too_large(response, error) from None
                yield lines.end().decode()
        except httpx.TransportError as error:
            raise sending.unreachable(self.server, error) from error


def _read(response: httpx.Response, max_bytes: int) -> bytes:
    """The body of a response, or the start of a long error. Raises `ResponseTooLarge`."""
    body = bytearray()
    for data in decoding.pieces(response):
        body += data
        if sending.is_read(response, body, max_bytes):
            break
    return bytes(body)


class Session(DefaultServer, SessionInfo):
    """A session on a server: a simulated cluster and its scheduler. Methods return when the server has finished."""

    _client_type = Client

    def __init__(self, client: Client, info: dict[str, Any]) -> None:
        super().__init__(info)
        self.client = client

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        """Delete the session."""
        self.delete()

    def refresh(self) -> Self:
        """Fetch `info` again."""
        self.info = self.client.call("GET", f"sessions/{self.id}/")
        return self

    def wait(self, timeout: float = IMPORT_SECONDS) -> Self:
        """Wait until the import has ended. Raises `ImportFailed`."""
        self.info = self.client.do(flows.ready(self.id, timeout))
        return self

    def send(
        self,
        *commands: Mapping[str, Any],
        timeout: float | None = None,
    ) -> Outcome:
        """Send commands (docs/rest.md: `{"op": "create", "object": …}`), all or none; returns the outcome of the last. Raises
        `CommandFailed`.
        """
        return self.client.do(flows.send(self.id, commands, timeout=timeout))

    def submit(self, *commands: Mapping[str, Any]) -> list[int]:
        """Send commands without waiting for them. Returns their sequence numbers."""
        return [accepted["seq"] for accepted in self.client.do(flows.submit(self.id, commands))]

    def step(self, count: int = 1, *, unit: str = "cycle") -> Outcome:
        """Advance by this many cycles or stages. The unit `mutation` is for pages: the server runs a stage."""
        return self.send(command_bodies.step(count, unit))

    def run(
        self,
        max: int | None = None,  # noqa: A002 -- the command's name.
        *,
        timeout: float | None = None,
    ) -> Outcome:
        """Run until nothing can be scheduled, or for `max` cycles."""
        return self.send(command_bodies.run(max), timeout=timeout)

    def advance(self, seconds: float | None = None) -> Outcome:
        """Advance the virtual clock by this many seconds, or to the next timer."""
        return self.send(command_bodies.advance(seconds))

    def create(self, *objects: Mapping[str, Any]) -> Outcome:
        """Create Kubernetes objects."""
        return self.send(*command_bodies.create(*objects))

    def remove(self, kind: str, name: str, namespace: str = "default") -> Outcome:
        """Delete a Kubernetes object."""
        return self.send(command_bodies.remove(kind, name, namespace))

    def cancel(self) -> Self:
        """Cancel the import or the runs in progress."""
        self.info = self.client.call("POST", f"sessions/{self.id}/cancel/")
        return self

    def fork(self, *, at: int | None = None, name: str = "", release: str = "", feature_gates: Mapping[str, bool] | None = None) -> Session:
        """Create a session that continues from this one after event `at`; default: from its current state. With `release`, the scheduler
        of another release starts with the objects of that moment.
        """
        flow = flows.fork(self.id, at, name, release=release, feature_gates=feature_gates)
        return Session(self.client, self.client.do(flow)).wait()

    def delete(self) -> None:
        """Delete the session and all of its data."""
        self.client.call("DELETE", f"sessions/{self.id}/")

    def state(self, *, at: int | None = None) -> State:
        """The cache, the snapshot and the queue after event `at`; default: now."""
        return self.client.do(flows.state(self.id, at))

    def cycles(self, *, most: int | None = None, tail: int | None = None, after: int = 0) -> Records:
        """The finished cycles as flat records: `cycle`, `pod`, `outcome`, `node`, `evaluatedNodes`, `feasibleNodes`, `firstEvent`, …"""
        return self.client.do(flows.cycles(self.id, most=most, tail=tail, after=after))

    def cycle(self, number: int) -> dict[str, Any]:
        """The details of a cycle: each plugin's result for each node, the scores, the selected node."""
        return self.client.do(flows.cycle(self.id, number))

    def events(self, *, after: int = 0, follow: bool = False) -> Iterator[dict[str, Any]]:
        """The trace events after number `after`. With `follow`, waits for new events and never ends."""
        if follow:
            query, headers = {"after": after, "follow": 1}, {"Accept": "application/x-ndjson"}
            for line in self.client.stream(f"sessions/{self.id}/events/", query, headers):
                if line:
                    yield flows.streamed_event(json.loads(line))
            return
        while True:
            page = self.client.do(flows.events_page(self.id, after))
            yield from page["results"]
            if page["next"] is None:
                return
            after = page["next"]

    def explain(self, pod: str, *, at: int | None = None) -> Explanation:
        """Why a pod (`namespace/name`, or a name in `default`) has its current placement or is Pending."""
        return self.client.do(flows.explain(self.id, pod, at))

    def pending(self, *, at: int | None = None) -> Records:
        """The pending pods with their reasons, grouped by equal scheduling requirements."""
        return self.client.do(flows.pending(self.id, at))

    def overview(self, *, at: int | None = None, with_changes: bool = False) -> dict[str, Any]:
        """How many pods are pending for which reason, with the numbers behind it and the groups of equal pods."""
        return self.client.do(flows.overview(self.id, at, with_changes=with_changes))

    def smallest_change(self, pod: str, *, at: int | None = None) -> dict[str, Any]:
        """The smallest changes that would place a pod, each verified. To try the first, fork and `send` its
        `suggestions[0]["commands"]`.
        """
        return self.client.do(flows.smallest_change(self.id, pod, at))

    def what_if(self, pod: Mapping[str, Any], copies: int = 1, *, at: int | None = None) -> WhatIf:
        """How many copies of a pod would fit, and where. The session does not change."""
        return self.client.do(flows.what_if(self.id, pod, copies, at))

    def compare(self, other: Session | str) -> Comparison:
        """Compare this session (`a`) with another (`b`)."""
        return self.client.compare(self, other)

    def object(self, kind: str, name: str, *, at: int | None = None) -> dict[str, Any]:
        """A Kubernetes object with the fields that the scheduler reads. `name` is `namespace/name` for namespaced kinds."""
        return self.client.do(flows.stored_object(self.id, kind, name, at))

    def export(self) -> bytes:
        """The session as the content of a `.schedviz` file, which `from_files` reads."""
        return self.client.do(flows.export(self.id))
