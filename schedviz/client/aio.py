"""`AsyncClient` and `AsyncSession`: a server and a session on it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from schedviz.client import command_bodies, decoding, flows, kubectl, runtime, sending
from schedviz.client.calls import Call, Flow, Pause, ask
from schedviz.client.default_server import AsyncDefaultServer
from schedviz.client.flows import IMPORT_SECONDS
from schedviz.client.limits import MAX_ERROR_BYTES, Lines, TooLarge
from schedviz.client.records import Records, records
from schedviz.client.results import Comparison, Explanation, Outcome, State, WhatIf
from schedviz.client.server import find_server
from schedviz.client.session_info import SessionInfo

T = TypeVar("T")


class AsyncClient:
    """A server. Without arguments: that of SCHEDVIZ_SERVER and SCHEDVIZ_TOKEN, otherwise the `schedviz up` on this machine."""

    def __init__(self, server: str | None = None, token: str | None = None) -> None:
        self.server = find_server(server, token)
        self._http = httpx.AsyncClient(**sending.options(self.server))
        runtime.async_close_with(self, self._http)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def do(self, flow: Flow[T]) -> T:
        """Run a flow."""
        steps = sending.with_retries(flow, self.server)
        outcome: sending.CallResult = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as ended:
                result: T = ended.value
                return result
            outcome = await self._carry_out(step)

    async def _carry_out(self, step: Call | Pause) -> sending.CallResult:
        if isinstance(step, Pause):
            await runtime.async_sleep(step.seconds)
            return None
        try:
            async with self._http.stream(**sending.request_of(step)) as response:
                return sending.reply_of(response, await _read(response, step.max_bytes))
        except httpx.TransportError as lost:
            return lost

    async def call(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Call any address of the REST API: `client.call("GET", "quotas/")`. Returns the decoded JSON."""
        return await self.do(ask(Call(method, path, query, body)))

    async def sessions(self, *, name: str = "", status: str = "", most: int | None = None) -> Records:
        """The sessions that you may view, newest first. `name` matches part of the name."""
        query = {key: value for key, value in (("q", name), ("status", status)) if value}
        return records(await self.do(flows.listed("sessions/", query, most=most, page=200)))

    async def session(self, session: str) -> AsyncSession:
        """An existing session, by its ID. Raises `NotFound`."""
        return AsyncSession(self, await self.call("GET", f"sessions/{session}/"))

    async def from_files(
        self,
        *paths: str | Path,
        name: str = "",
        config: flows.Config | None = None,
        settings: Mapping[str, Any] | None = None,
        release: str = "",
        feature_gates: Mapping[str, bool] | None = None,
        wait: bool = True,
        timeout: float = IMPORT_SECONDS,  # noqa: ASYNC109 -- the server is asked to wait, too.
    ) -> AsyncSession:
        """Create a session from files and folders in any format of docs/readers.md. `config`: a KubeSchedulerConfiguration, or its file.
        Raises `ImportFailed`.
        """
        files = await runtime.async_run(flows.read_files, paths)
        flow = flows.new_session(
            name=name or flows.name_of(paths), files=files, config=config, settings=settings, release=release, feature_gates=feature_gates
        )
        return await self._made(flow, wait, timeout)

    async def from_kubectl(
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
        timeout: float = IMPORT_SECONDS,  # noqa: ASYNC109 -- the server is asked to wait, too.
    ) -> AsyncSession:
        """Create a session from kubectl's current cluster, read with your own permissions. Raises `KubectlError` or `ImportFailed`."""
        files = await runtime.async_run(kubectl.read_cluster, context=context, kubeconfig=kubeconfig)
        flow = flows.new_session(
            name=name or context or "kubectl", files=files, config=config, settings=settings, release=release, feature_gates=feature_gates
        )
        return await self._made(flow, wait, timeout)

    async def generate(
        self,
        *,
        name: str = "",
        config: flows.Config | None = None,
        settings: Mapping[str, Any] | None = None,
        release: str = "",
        feature_gates: Mapping[str, bool] | None = None,
        wait: bool = True,
        timeout: float = IMPORT_SECONDS,  # noqa: ASYNC109 -- the server is asked to wait, too.
        **cluster: Any,
    ) -> AsyncSession:
        """Create a session with a generated cluster: `nodes`, `pods`, `shape`, `zones`, `seed`, `gpus`, `gpuModel`, `partitions`."""
        flow = flows.new_session(
            name=name, config=config, settings=settings, release=release, feature_gates=feature_gates, generate=cluster
        )
        return await self._made(flow, wait, timeout)

    async def from_objects(
        self,
        objects: Sequence[Mapping[str, Any]],
        *,
        name: str = "objects",
        config: flows.Config | None = None,
        settings: Mapping[str, Any] | None = None,
        release: str = "",
        feature_gates: Mapping[str, bool] | None = None,
        wait: bool = True,
        timeout: float = IMPORT_SECONDS,  # noqa: ASYNC109 -- the server is asked to wait, too.
    ) -> AsyncSession:
        """Create a session from Kubernetes objects, as dicts. Raises `ImportFailed`."""
        flow = flows.new_session(
            name=name, files=[flows.objects_file(objects)], config=config, settings=settings, release=release, feature_gates=feature_gates
        )
        return await self._made(flow, wait, timeout)

    async def compare(self, a: AsyncSession | str, b: AsyncSession | str) -> Comparison:
        """Compare two sessions, or moments of sessions (`<id>@<event>`)."""
        first, second = (session if isinstance(session, str) else session.id for session in (a, b))
        return await self.do(flows.compare(first, second))

    async def _made(self, flow: Flow[dict[str, Any]], wait: bool, timeout: float) -> AsyncSession:  # noqa: FBT001, ASYNC109 -- internal.
        made = AsyncSession(self, await self.do(flow))
        return await made.wait(timeout) if wait else made

    async def stream(self, path: str, query: Mapping[str, Any], headers: Mapping[str, str]) -> AsyncIterator[str]:
        """The lines of a response, as they arrive. Raises `Refused` or `Unavailable`."""
        try:
            async with self._http.stream(
                "GET", path, params=dict(query), headers=dict(headers), timeout=sending.STREAM_TIMEOUT
            ) as response:
                if response.status_code >= 400:
                    sending.reply_of(response, await _read(response, MAX_ERROR_BYTES)).json()
                lines = Lines()
                async for data in decoding.async_pieces(response):
                    try:
                        for line in lines.add(data):
                            yield line.decode()
                    except TooLarge as error:
                        raise sending.too_large(response, error) from None
                yield lines.end().decode()
        except httpx.TransportError as error:
            raise sending.unreachable(self.server, error) from error


async def _read(response: httpx.Response, max_bytes: int) -> bytes:
    """The body of a response, or the start of a long error. Raises `ResponseTooLarge`."""
    body = bytearray()
    async for data in decoding.async_pieces(response):
        body += data
        if sending.is_read(response, body, max_bytes):
            break
    return bytes(body)


class AsyncSession(AsyncDefaultServer, SessionInfo):
    """A session on a server: a simulated cluster and its scheduler. Methods return when the server has finished."""

    _client_type = AsyncClient

    def __init__(self, client: AsyncClient, info: dict[str, Any]) -> None:
        super().__init__(info)
        self.client = client

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        """Delete the session."""
        await self.delete()

    async def refresh(self) -> Self:
        """Fetch `info` again."""
        self.info = await self.client.call("GET", f"sessions/{self.id}/")
        return self

    async def wait(self, timeout: float = IMPORT_SECONDS) -> Self:  # noqa: ASYNC109 -- the server is asked to wait, too.
        """Wait until the import has ended. Raises `ImportFailed`."""
        self.info = await self.client.do(flows.ready(self.id, timeout))
        return self

    async def send(
        self,
        *commands: Mapping[str, Any],
        timeout: float | None = None,  # noqa: ASYNC109 -- the server is asked to wait, too.
    ) -> Outcome:
        """Send commands (docs/rest.md: `{"op": "create", "object": …}`), all or none; returns the outcome of the last. Raises
        `CommandFailed`.
        """
        return await self.client.do(flows.send(self.id, commands, timeout=timeout))

    async def submit(self, *commands: Mapping[str, Any]) -> list[int]:
        """Send commands without waiting for them. Returns their sequence numbers."""
        return [accepted["seq"] for accepted in await self.client.do(flows.submit(self.id, commands))]

    async def step(self, count: int = 1, *, unit: str = "cycle") -> Outcome:
        """Advance by this many cycles or stages. The unit `mutation` is for pages: the server runs a stage."""
        return await self.send(command_bodies.step(count, unit))

    async def run(
        self,
        max: int | None = None,  # noqa: A002 -- the command's name.
        *,
        timeout: float | None = None,  # noqa: ASYNC109 -- the server is asked to wait, too.
    ) -> Outcome:
        """Run until nothing can be scheduled, or for `max` cycles."""
        return await self.send(command_bodies.run(max), timeout=timeout)

    async def advance(self, seconds: float | None = None) -> Outcome:
        """Advance the virtual clock by this many seconds, or to the next timer."""
        return await self.send(command_bodies.advance(seconds))

    async def create(self, *objects: Mapping[str, Any]) -> Outcome:
        """Create Kubernetes objects."""
        return await self.send(*command_bodies.create(*objects))

    async def remove(self, kind: str, name: str, namespace: str = "default") -> Outcome:
        """Delete a Kubernetes object."""
        return await self.send(command_bodies.remove(kind, name, namespace))

    async def cancel(self) -> Self:
        """Cancel the import or the runs in progress."""
        self.info = await self.client.call("POST", f"sessions/{self.id}/cancel/")
        return self

    async def fork(
        self, *, at: int | None = None, name: str = "", release: str = "", feature_gates: Mapping[str, bool] | None = None
    ) -> AsyncSession:
        """Create a session that continues from this one after event `at`; default: from its current state. With `release`, the scheduler
        of another release starts with the objects of that moment.
        """
        flow = flows.fork(self.id, at, name, release=release, feature_gates=feature_gates)
        return await AsyncSession(self.client, await self.client.do(flow)).wait()

    async def delete(self) -> None:
        """Delete the session and all of its data."""
        await self.client.call("DELETE", f"sessions/{self.id}/")

    async def state(self, *, at: int | None = None) -> State:
        """The cache, the snapshot and the queue after event `at`; default: now."""
        return await self.client.do(flows.state(self.id, at))

    async def cycles(self, *, most: int | None = None, tail: int | None = None, after: int = 0) -> Records:
        """The finished cycles as flat records: `cycle`, `pod`, `outcome`, `node`, `evaluatedNodes`, `feasibleNodes`, `firstEvent`, …"""
        return await self.client.do(flows.cycles(self.id, most=most, tail=tail, after=after))

    async def cycle(self, number: int) -> dict[str, Any]:
        """The details of a cycle: each plugin's result for each node, the scores, the selected node."""
        return await self.client.do(flows.cycle(self.id, number))

    async def events(self, *, after: int = 0, follow: bool = False) -> AsyncIterator[dict[str, Any]]:
        """The trace events after number `after`. With `follow`, waits for new events and never ends."""
        if follow:
            query, headers = {"after": after, "follow": 1}, {"Accept": "application/x-ndjson"}
            async for line in self.client.stream(f"sessions/{self.id}/events/", query, headers):
                if line:
                    yield flows.streamed_event(json.loads(line))
            return
        while True:
            page = await self.client.do(flows.events_page(self.id, after))
            for event in page["results"]:
                yield event
            if page["next"] is None:
                return
            after = page["next"]

    async def explain(self, pod: str, *, at: int | None = None) -> Explanation:
        """Why a pod (`namespace/name`, or a name in `default`) has its current placement or is Pending."""
        return await self.client.do(flows.explain(self.id, pod, at))

    async def pending(self, *, at: int | None = None) -> Records:
        """The pending pods with their reasons, grouped by equal scheduling requirements."""
        return await self.client.do(flows.pending(self.id, at))

    async def overview(self, *, at: int | None = None, with_changes: bool = False) -> dict[str, Any]:
        """How many pods are pending for which reason, with the numbers behind it and the groups of equal pods."""
        return await self.client.do(flows.overview(self.id, at, with_changes=with_changes))

    async def smallest_change(self, pod: str, *, at: int | None = None) -> dict[str, Any]:
        """The smallest changes that would place a pod, each verified. To try the first, fork and `send` its
        `suggestions[0]["commands"]`.
        """
        return await self.client.do(flows.smallest_change(self.id, pod, at))

    async def what_if(self, pod: Mapping[str, Any], copies: int = 1, *, at: int | None = None) -> WhatIf:
        """How many copies of a pod would fit, and where. The session does not change."""
        return await self.client.do(flows.what_if(self.id, pod, copies, at))

    async def compare(self, other: AsyncSession | str) -> Comparison:
        """Compare this session (`a`) with another (`b`)."""
        return await self.client.compare(self, other)

    async def object(self, kind: str, name: str, *, at: int | None = None) -> dict[str, Any]:
        """A Kubernetes object with the fields that the scheduler reads. `name` is `namespace/name` for namespaced kinds."""
        return await self.client.do(flows.stored_object(self.id, kind, name, at))

    async def export(self) -> bytes:
        """The session as the content of a `.schedviz` file, which `from_files` reads."""
        return await self.client.do(flows.export(self.id))
