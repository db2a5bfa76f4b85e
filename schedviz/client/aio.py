"""`AsyncClient` and `AsyncSession`: the same words, for an event loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from schedviz.client import command_bodies, flows, kubectl, sending
from schedviz.client.answers import Comparison, Explanation, Outcome, State, WhatIf
from schedviz.client.calls import Call, Flow, Pause, ask
from schedviz.client.records import Records, records
from schedviz.client.server import find_server
from schedviz.client.session_info import Told
from schedviz.client.sync import IMPORT_SECONDS, told_event

T = TypeVar("T")


class AsyncClient:
    """A server. Without arguments: SCHEDVIZ_SERVER and SCHEDVIZ_TOKEN, else the `schedviz up` of this machine."""

    def __init__(self, server: str | None = None, token: str | None = None) -> None:
        self.server = find_server(server, token)
        self._http = httpx.AsyncClient(**sending.options(self.server))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def do(self, flow: Flow[T]) -> T:
        """Carry out a flow."""
        steps = sending.with_retries(flow, self.server)
        outcome: sending.Outcome = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as ended:
                result: T = ended.value
                return result
            outcome = await self._carry_out(step)

    async def _carry_out(self, step: Call | Pause) -> sending.Outcome:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        try:
            return sending.reply_of(await self._http.request(**sending.request_of(step)))
        except httpx.TransportError as lost:
            return lost

    async def call(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Anything of REST that has no word of its own here."""
        return await self.do(ask(Call(method, path, query, body)))

    async def sessions(self, *, name: str = "", status: str = "", most: int | None = None) -> Records:
        """The sessions that you may see, newest first."""
        query = {key: value for key, value in (("q", name), ("status", status)) if value}
        return records(await self.do(flows.listed("sessions/", query, most=most, page=200)))

    async def session(self, session: str) -> AsyncSession:
        """A session that is there, by its id."""
        return AsyncSession(self, await self.call("GET", f"sessions/{session}/"))

    async def from_files(
        self,
        *paths: str | Path,
        name: str = "",
        config: flows.Config | None = None,
        settings: Mapping[str, Any] | None = None,
        wait: bool = True,
        timeout: float = IMPORT_SECONDS,  # noqa: ASYNC109 -- the server is asked to wait, too.
    ) -> AsyncSession:
        """As `Client.from_files`."""
        files = await asyncio.to_thread(flows.read_files, paths)
        flow = flows.new_session(name=name or flows.name_of(paths), files=files, config=config, settings=settings)
        return await self._made(flow, wait, timeout)

    async def from_kubectl(
        self,
        *,
        context: str | None = None,
        kubeconfig: str | None = None,
        name: str = "",
        config: flows.Config | None = None,
        settings: Mapping[str, Any] | None = None,
        wait: bool = True,
        timeout: float = IMPORT_SECONDS,  # noqa: ASYNC109 -- the server is asked to wait, too.
    ) -> AsyncSession:
        """As `Client.from_kubectl`."""
        files = await asyncio.to_thread(kubectl.read_cluster, context=context, kubeconfig=kubeconfig)
        flow = flows.new_session(name=name or context or "kubectl", files=files, config=config, settings=settings)
        return await self._made(flow, wait, timeout)

    async def generate(
        self,
        *,
        name: str = "",
        config: flows.Config | None = None,
        settings: Mapping[str, Any] | None = None,
        wait: bool = True,
        timeout: float = IMPORT_SECONDS,  # noqa: ASYNC109 -- the server is asked to wait, too.
        **cluster: Any,
    ) -> AsyncSession:
        """As `Client.generate`."""
        flow = flows.new_session(name=name, config=config, settings=settings, generate=cluster)
        return await self._made(flow, wait, timeout)

    async def from_objects(
        self,
        objects: Sequence[Mapping[str, Any]],
        *,
        name: str = "objects",
        config: flows.Config | None = None,
        settings: Mapping[str, Any] | None = None,
        wait: bool = True,
        timeout: float = IMPORT_SECONDS,  # noqa: ASYNC109 -- the server is asked to wait, too.
    ) -> AsyncSession:
        """As `Client.from_objects`."""
        flow = flows.new_session(name=name, files=[flows.objects_file(objects)], config=config, settings=settings)
        return await self._made(flow, wait, timeout)

    async def compare(self, a: AsyncSession | str, b: AsyncSession | str) -> Comparison:
        """Two sessions, or moments of sessions (`<id>@<event>`), side by side."""
        first, second = (one if isinstance(one, str) else one.id for one in (a, b))
        return await self.do(flows.compare(first, second))

    async def _made(self, flow: Flow[dict[str, Any]], wait: bool, timeout: float) -> AsyncSession:  # noqa: FBT001, ASYNC109 -- ours alone.
        made = AsyncSession(self, await self.do(flow))
        return await made.wait(timeout) if wait else made

    async def stream(self, path: str, query: Mapping[str, Any], headers: Mapping[str, str]) -> AsyncIterator[str]:
        """The lines of an answer, as they come."""
        try:
            async with self._http.stream(
                "GET", path, params=dict(query), headers=dict(headers), timeout=sending.STREAM_TIMEOUT
            ) as response:
                if response.status_code >= 400:
                    await response.aread()
                    sending.reply_of(response).json()
                async for line in response.aiter_lines():
                    yield line
        except httpx.TransportError as error:
            raise sending.no_answer(self.server, error) from error


class AsyncSession(Told):
    """A session on a server; each word is that of `Session`, awaited."""

    def __init__(self, client: AsyncClient, info: dict[str, Any]) -> None:
        super().__init__(info)
        self.client = client

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        """Leave nothing behind: the session is deleted."""
        await self.delete()

    async def refresh(self) -> Self:
        """Ask the server how it is now."""
        self.info = await self.client.call("GET", f"sessions/{self.id}/")
        return self

    async def wait(self, timeout: float = IMPORT_SECONDS) -> Self:  # noqa: ASYNC109 -- the server is asked to wait, too.
        """Wait until its import has ended."""
        self.info = await self.client.do(flows.ready(self.id, timeout))
        return self

    async def send(
        self,
        *commands: Mapping[str, Any],
        timeout: float | None = None,  # noqa: ASYNC109 -- the server is asked to wait, too.
    ) -> Outcome:
        """Send commands, all or none; the outcome of the last."""
        return await self.client.do(flows.send(self.id, commands, timeout=timeout))

    async def submit(self, *commands: Mapping[str, Any]) -> list[int]:
        """The same without waiting: their numbers."""
        return [one["seq"] for one in await self.client.do(flows.submit(self.id, commands))]

    async def step(self, count: int = 1, *, unit: str = "cycle") -> Outcome:
        """Go on by so many units."""
        return await self.send(command_bodies.step(count, unit))

    async def run(
        self,
        max: int | None = None,  # noqa: A002 -- the command's word.
        *,
        timeout: float | None = None,  # noqa: ASYNC109 -- the server is asked to wait, too.
    ) -> Outcome:
        """Run until nothing can be scheduled, or for `max` cycles."""
        return await self.send(command_bodies.run(max), timeout=timeout)

    async def advance(self, seconds: float | None = None) -> Outcome:
        """Move the virtual clock by so many seconds, or to the next timer."""
        return await self.send(command_bodies.advance(seconds))

    async def create(self, *objects: Mapping[str, Any]) -> Outcome:
        """Create Kubernetes objects."""
        return await self.send(*command_bodies.create(*objects))

    async def remove(self, kind: str, name: str, namespace: str = "default") -> Outcome:
        """Delete a Kubernetes object."""
        return await self.send(command_bodies.remove(kind, name, namespace))

    async def cancel(self) -> Self:
        """Stop its import, or its runs."""
        self.info = await self.client.call("POST", f"sessions/{self.id}/cancel/")
        return self

    async def fork(self, *, at: int | None = None, name: str = "") -> AsyncSession:
        """A session that begins as this one was after event `at`, or is now."""
        return await AsyncSession(self.client, await self.client.do(flows.fork(self.id, at, name))).wait()

    async def delete(self) -> None:
        """Delete it and everything about it."""
        await self.client.call("DELETE", f"sessions/{self.id}/")

    async def state(self, *, at: int | None = None) -> State:
        """The cache, the snapshot and the queue."""
        return await self.client.do(flows.state(self.id, at))

    async def cycles(self, *, most: int | None = None, tail: int | None = None, after: int = 0) -> Records:
        """The cycles that ended, flat."""
        return await self.client.do(flows.cycles(self.id, most=most, tail=tail, after=after))

    async def cycle(self, number: int) -> dict[str, Any]:
        """Everything about a cycle."""
        return await self.client.do(flows.cycle(self.id, number))

    async def events(self, *, after: int = 0, follow: bool = False) -> AsyncIterator[dict[str, Any]]:
        """What the scheduler did, event by event; `follow`: and what it does from now on."""
        if follow:
            query, headers = {"after": after, "follow": 1}, {"Accept": "application/x-ndjson"}
            async for line in self.client.stream(f"sessions/{self.id}/events/", query, headers):
                if line:
                    yield told_event(json.loads(line))
            return
        while True:
            page = await self.client.do(flows.events_page(self.id, after))
            for event in page["results"]:
                yield event
            if page["next"] is None:
                return
            after = page["next"]

    async def explain(self, pod: str, *, at: int | None = None) -> Explanation:
        """Why a pod is where it is."""
        return await self.client.do(flows.explain(self.id, pod, at))

    async def pending(self, *, at: int | None = None) -> Records:
        """The pods that wait, in groups, with the reason."""
        return await self.client.do(flows.pending(self.id, at))

    async def smallest_change(self, pod: str, *, at: int | None = None) -> dict[str, Any]:
        """The smallest changes that place a pod."""
        return await self.client.do(flows.smallest_change(self.id, pod, at))

    async def what_if(self, pod: Mapping[str, Any], copies: int = 1, *, at: int | None = None) -> WhatIf:
        """How many copies of a pod would fit, and where."""
        return await self.client.do(flows.what_if(self.id, pod, copies, at))

    async def compare(self, other: AsyncSession | str) -> Comparison:
        """This session (`a`) beside another (`b`)."""
        return await self.client.compare(self, other)

    async def object(self, kind: str, name: str, *, at: int | None = None) -> dict[str, Any]:
        """A Kubernetes object as it is kept."""
        return await self.client.do(flows.kept_object(self.id, kind, name, at))

    async def export(self) -> bytes:
        """All of it, as the content of a `.schedviz` file."""
        return await self.client.do(flows.export(self.id))
