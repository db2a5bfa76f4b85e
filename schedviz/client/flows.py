"""The requests of the client as flows (see `calls`), which `aio.py` and `sync.py` run."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from schedviz.client.calls import NOT_SCHEDVIZ, Call, Flow, Pause, ask, ask_bytes
from schedviz.client.errors import CommandFailed, ImportFailed, Refused, SchedvizError, refusal
from schedviz.client.limits import MAX_EXPORT_BYTES
from schedviz.client.records import Records, records
from schedviz.client.results import Comparison, Explanation, Outcome, State, WhatIf

#: A KubeSchedulerConfiguration, or the path of its file.
Config: TypeAlias = Mapping[str, Any] | str | Path
#: How long a client waits for an import by default.
IMPORT_SECONDS = 600.0
#: How long the server is asked to wait in one request.
WAIT_SECONDS = 25.0
#: The pause before the next request if the server did not wait.
_EARLY_PAUSE_SECONDS = 1.0
_PAGE_SIZE = 1000
_EVENTS_PAGE_SIZE = 5000
#: Commands that do not fail if there was nothing to do.
_MAY_DO_NOTHING = frozenset({"run", "step", "cycle", "schedule", "advance", "pause", "snapshot"})


def new_session(
    *,
    name: str,
    files: Sequence[tuple[str, bytes]] = (),
    config: Config | None = None,
    settings: Mapping[str, Any] | None = None,
    release: str = "",
    feature_gates: Mapping[str, bool] | None = None,
    **source: Any,
) -> Flow[dict[str, Any]]:
    """Create a session; its import is in progress when this returns. `config`: a KubeSchedulerConfiguration, or its file. `release`: the
    simulated kube-scheduler; "": that of a trace's header, otherwise v1.27.1.
    """
    if isinstance(config, Mapping):
        settings = {**(settings or {}), "config": dict(config)}
    elif config is not None and files:
        files = [*files, *read_files([config])]
    elif config is not None:
        raise SchedvizError(
            f"{config}: no file goes with a generated cluster; give the configuration as a dict, as yaml.safe_load reads it."
        )
    headers = {"Idempotency-Key": uuid.uuid4().hex}
    chosen: dict[str, Any] = {"settings": dict(settings)} if settings else {}
    if feature_gates is not None:
        chosen["featureGates"] = dict(feature_gates)
    if files:
        fields = {"name": name} if name else {}
        fields |= {"release": release} if release else {}
        fields |= {member: json.dumps(value) for member, value in chosen.items()}
        call = Call("POST", "sessions/", files=files, body=fields, headers=headers)
    else:
        body = {"name": name, **source, **({"release": release} if release else {}), **chosen}
        call = Call("POST", "sessions/", body=body, headers=headers)
    made: dict[str, Any] = yield from ask(call)
    return made


def ready(session: str, timeout: float) -> Flow[dict[str, Any]]:
    """The session after its import has ended. Raises `ImportFailed`, or `SchedvizError` after `timeout` seconds."""
    until = time.monotonic() + timeout
    while True:
        wait, asked = min(WAIT_SECONDS, max(0.1, until - time.monotonic())), time.monotonic()
        found: dict[str, Any] = yield from ask(Call("GET", f"sessions/{session}/", headers={"Prefer": f"wait={wait:.1f}"}, wait=wait))
        if found["status"] == "failed":
            raise ImportFailed(found["message"])
        if found["status"] != "importing":
            return found
        if time.monotonic() >= until:
            raise SchedvizError(f"The session is still being imported after {timeout:g} s. The import continues.")
        yield from _pause_if_early(asked, wait)


def _pause_if_early(asked: float, wait: float) -> Flow[None]:
    """Pause if the server responded much sooner than after `wait` seconds: it has too many waiting requests. `asked`: when it was asked, by
    `time.monotonic()`.
    """
    if time.monotonic() - asked < wait / 2:
        yield Pause(_EARLY_PAUSE_SECONDS)


def objects_file(objects: Sequence[Mapping[str, Any]]) -> tuple[str, bytes]:
    """A file with Kubernetes objects."""
    return "objects.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}).encode()


def read_files(paths: Sequence[str | Path]) -> list[tuple[str, bytes]]:
    """The contents of files, and of all files in folders, with their names. Raises `SchedvizError`."""
    found: list[tuple[str, bytes]] = []
    for path in map(Path, paths):
        try:
            if path.is_dir():
                found += [(str(each.relative_to(path)), each.read_bytes()) for each in sorted(path.rglob("*")) if each.is_file()]
            else:
                found.append((path.name, path.read_bytes()))
        except OSError as error:
            raise SchedvizError(f"{error.filename}: {error.strerror}.") from None
    if not found:
        raise SchedvizError("There is no file to send: name a file, or a folder that has some.")
    return found


def name_of(paths: Sequence[str | Path]) -> str:
    """The default name of a session with these files."""
    return ", ".join(Path(path).name for path in paths)[:200]


def listed(path: str, query: Mapping[str, Any] | None = None, *, most: int | None = None, page: int = _PAGE_SIZE) -> Flow[list[Any]]:
    """All results of a list, page by page, or the first `most`."""
    rows: list[Any] = []
    after: Any = None
    while most is None or len(rows) < most:
        limit = page if most is None else min(page, most - len(rows))
        cursor = {} if after is None else {"after": after}
        response = yield from ask(Call("GET", path, {**(query or {}), "limit": limit, **cursor}))
        if not isinstance(response, dict) or not isinstance(response.get("results"), list):
            raise SchedvizError(NOT_SCHEDVIZ)
        rows += response["results"]
        before, after = after, response.get("next")
        if after is None:
            break
        if after == before:
            raise SchedvizError(f"The server's pages do not end: after {str(after)[:80]} comes {str(after)[:80]}. Is the address right?")
    return rows


def submit(session: str, commands: Sequence[Mapping[str, Any]], *, wait: float = 0.0) -> Flow[list[dict[str, Any]]]:
    """Send commands, all or none; returns their state when they are accepted or, within `wait` seconds, done."""
    headers = {"Idempotency-Key": uuid.uuid4().hex, **({"Prefer": f"wait={wait:g}"} if wait else {})}
    path = f"sessions/{session}/commands/together/"
    response = yield from ask(Call("POST", path, body={"commands": list(commands)}, headers=headers, wait=wait))
    results: list[dict[str, Any]] = response["results"]
    return results


def command(session: str, seq: int, *, wait: float = 0.0) -> Flow[dict[str, Any]]:
    """The state of a command now or, within `wait` seconds, when it is done."""
    headers = {"Prefer": f"wait={wait:g}"} if wait else {}
    body: dict[str, Any] = yield from ask(Call("GET", f"sessions/{session}/commands/{seq}/", headers=headers, wait=wait))
    return body


def send(session: str, commands: Sequence[Mapping[str, Any]], *, timeout: float | None) -> Flow[Outcome]:
    """Send commands, all or none; returns the outcome of the last when it is done.

    Raises `CommandFailed` if a command failed, and `SchedvizError` after `timeout` seconds.
    """
    until = None if timeout is None else time.monotonic() + timeout
    asked = time.monotonic()
    sent = yield from submit(session, commands, wait=WAIT_SECONDS)
    first, last = sent[0]["seq"], sent[-1]
    while last["status"] == "waiting":
        if until is not None and time.monotonic() >= until:
            raise SchedvizError(f"Command {last['seq']} is not done after {timeout:g} s. It continues; cancel() stops runs.")
        yield from _pause_if_early(asked, WAIT_SECONDS)
        asked = time.monotonic()
        last = yield from command(session, last["seq"], wait=WAIT_SECONDS)
    if sent[-1]["status"] == "waiting":
        sent = yield from listed(f"sessions/{session}/commands/", {"after": first - 1}, most=last["seq"] - first + 1)
    for entry in sent:
        require_done(entry)
    return Outcome.of(last["outcome"])


def require_done(command: Mapping[str, Any]) -> None:
    """Raises `CommandFailed` for a command that failed, or that had no effect although it should have."""
    op, outcome = command["command"].get("op"), command.get("outcome") or {}
    label = f"command {command['seq']} ({op})"
    if command["status"] == "quarantined":
        raise CommandFailed(f"{label}: {outcome.get('error') or 'The command was quarantined.'}")
    if why := outcome.get("error") or (outcome.get("result") if op not in _MAY_DO_NOTHING else ""):
        raise CommandFailed(f"{label}: {why}")


def state(session: str, at: int | None) -> Flow[State]:
    """The present or a past state."""
    return State.of((yield from ask(Call("GET", f"sessions/{session}/state/", _at(at)))))


def cycles(session: str, *, most: int | None, tail: int | None, after: int) -> Flow[Records]:
    """The summaries of cycles as flat records."""
    if tail is not None:
        response = yield from ask(Call("GET", f"sessions/{session}/cycles/", {"tail": tail}))
        return records(response["results"])
    rows = yield from listed(f"sessions/{session}/cycles/", {"after": after}, most=most)
    return records(rows)


def cycle(session: str, number: int) -> Flow[dict[str, Any]]:
    """The full detail of a cycle."""
    body: dict[str, Any] = yield from _until_computed(Call("GET", f"sessions/{session}/cycles/{number}/", wait=35))
    return body


def events_page(session: str, after: int) -> Flow[dict[str, Any]]:
    """A page of stored events."""
    page: dict[str, Any] = yield from ask(Call("GET", f"sessions/{session}/events/", {"after": after, "limit": _EVENTS_PAGE_SIZE}))
    return page


def explain(session: str, pod: str, at: int | None) -> Flow[Explanation]:
    """Why a pod has its placement or is Pending."""
    return Explanation.of((yield from _until_computed(Call("GET", f"sessions/{session}/explain/{_path(pod)}/", _at(at), wait=35))))


def pending(session: str, at: int | None) -> Flow[Records]:
    """All pending pods in groups."""
    groups = yield from _until_computed(Call("GET", f"sessions/{session}/explain/", _at(at), wait=35))
    return Records({**records([group])[0], "count": len(group["pods"])} for group in groups)


def overview(session: str, at: int | None, *, with_changes: bool) -> Flow[dict[str, Any]]:
    """The reasons for which pods are pending."""
    query = {**_at(at), **({"changes": "1"} if with_changes else {})}
    body: dict[str, Any] = yield from _until_computed(Call("GET", f"sessions/{session}/overview/", query, wait=35))
    return body


def smallest_change(session: str, pod: str, at: int | None) -> Flow[dict[str, Any]]:
    """The smallest changes that would place a pod."""
    body: dict[str, Any] = yield from _until_computed(Call("GET", f"sessions/{session}/explain/{_path(pod)}/change/", _at(at), wait=35))
    return body


def what_if(session: str, pod: Mapping[str, Any], copies: int, at: int | None) -> Flow[WhatIf]:
    """How many copies would fit."""
    body = {"pod": dict(pod), "copies": copies}
    return WhatIf.of((yield from _until_computed(Call("POST", f"sessions/{session}/what-if/", _at(at), body, wait=35))))


def compare(a: str, b: str) -> Flow[Comparison]:
    """Two sessions, or moments (`<id>@<event>`), side by side."""
    return Comparison.of((yield from _until_computed(Call("GET", "compare/", {"a": a, "b": b}, wait=60))))


def fork(
    session: str, at: int | None, name: str, *, release: str = "", feature_gates: Mapping[str, bool] | None = None
) -> Flow[dict[str, Any]]:
    """Create a fork; its import is in progress when this returns."""
    body: dict[str, Any] = {"name": name, "key": uuid.uuid4().hex, **({} if at is None else {"at": at})}
    body |= {"release": release} if release else {}
    body |= {} if feature_gates is None else {"featureGates": dict(feature_gates)}
    made: dict[str, Any] = yield from ask(Call("POST", f"sessions/{session}/branches/", body=body))
    return made


def stored_object(session: str, kind: str, name: str, at: int | None) -> Flow[dict[str, Any]]:
    """An object as the simulated API server stores it."""
    namespace, _, short = name.rpartition("/")
    query = {"kind": kind, "name": short, **({"namespace": namespace} if namespace else {}), **_at(at)}
    body: dict[str, Any] = yield from _until_computed(Call("GET", f"sessions/{session}/objects/", query, wait=35))
    return body


def export(session: str) -> Flow[bytes]:
    """The session as a `.schedviz` file."""
    return (yield from ask_bytes(Call("GET", f"sessions/{session}/export/", wait=60, max_bytes=MAX_EXPORT_BYTES)))


def _until_computed(call: Call) -> Flow[Any]:
    """Request a result that a worker computes, and repeat the request while the computation is in progress."""
    for _ in range(10):
        try:
            return (yield from ask(call))
        except Refused as refused:
            if refused.code not in ("answer_late", "detail_late"):
                raise
            late = refused
            yield Pause(2.0)
    raise late


def _at(event: int | None) -> dict[str, Any]:
    return {} if event is None else {"at": event}


def _path(pod: str) -> str:
    namespace, slash, name = pod.partition("/")
    return f"{quote(namespace)}/{quote(name)}" if slash else f"default/{quote(pod)}"


def streamed_event(event: dict[str, Any]) -> dict[str, Any]:
    """A trace event of a stream. Raises `Refused` for a message with which a server ends a stream."""
    if "event" not in event:
        raise refusal(403 if event.get("t") == "ended" else 503, {"detail": event.get("message", ""), "code": event.get("t", "")})
    return event
