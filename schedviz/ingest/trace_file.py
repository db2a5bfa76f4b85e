"""schedviz-trace/1 files: a scripted run, its settings and its steps."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal, Union, get_args

import msgspec

from schedviz.ingest.errors import UnreadableFile
from schedviz.kube import codec
from schedviz.kube.errors import DecodeError, KubeError
from schedviz.kube.validation_errors import explain_validation_error
from schedviz.trace.commands import AnyCommand, Command, Create, Update
from schedviz.trace.policies import Policies
from schedviz.trace.releases import V1_27

FORMAT = "schedviz-trace/1"
#: How v1.36 chooses among equal scores: the top of container/heap, or the first node.
TieBreak = Literal["heap", "first"]

#: The most steps of a trace; a session file has the same limit for commands.
MAX_STEPS: Final = 1_000_000

#: Operations of a session that a file cannot contain: a recording of the real scheduler, which has the same format, has none of them.
#: `step` and `pause` are of the page, `latency` delays watch events, `restart` restarts the scheduler, and `reset` the session.
_NOT_IN_FILES = frozenset({"step", "pause", "latency", "restart", "reset"})


#: A text without such a number has no integer that needs more than 64 bits.
_LONG_NUMBER: Final = re.compile(rb"\d{19}")


class Dump(Command, frozen=True, tag="dump"):
    """What SIGUSR2 does: compare the cache with the API server, and log the cache and the queue."""


Step = AnyCommand | Dump
#: The operations that a file can contain, for messages.
_FileStep: Any = Union[tuple(step for step in get_args(Step) if step.__struct_config__.tag not in _NOT_IN_FILES)]  # noqa: UP007 (made of a list)


class Logging(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the scheduler's log is captured: at this verbosity, and with this process id in text lines."""

    v: Annotated[int, msgspec.Meta(ge=0, le=10)] = 2
    format: Literal["text", "json"] = "text"
    pid: Annotated[int, msgspec.Meta(ge=0, le=(1 << 31) - 1)] = 1


class TraceFile(msgspec.Struct, frozen=True, kw_only=True):
    """A scripted run. `document` is the original file, for writing it again with observed results."""

    name: str = ""
    description: str = ""
    config: dict[str, Any] | None = None
    assumed_pod_ttl_seconds: float = 0
    pod_max_in_unschedulable_seconds: float = 300
    tick_millis: int = 1
    graceful_victims: bool = False
    record_state: Literal["all", "last", "none"] = "all"
    record_cycles: Literal["all", "placement"] = "all"
    logging: Logging | None = None
    fake_extenders: tuple[dict[str, Any], ...] = ()
    policies: Policies = Policies()
    release: str = V1_27
    feature_gates: dict[str, bool] = {}
    hold_preemption: bool = False
    hold_dispatch: bool = False
    tie_break: TieBreak = "heap"
    steps: tuple[Step, ...] = ()
    document: dict[str, Any] = {}


class _Members(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """The members of the file except the steps. A null member counts as absent."""

    format: str
    name: str = ""
    description: str = ""
    config: dict[str, Any] | None = None
    assumed_pod_ttl_seconds: float | None = msgspec.field(default=None, name="assumedPodTTLSeconds")
    pod_max_in_unschedulable_seconds: float | None = None
    tick_millis: int | None = None
    graceful_victims: bool | None = None
    record_state: Literal["all", "last", "none"] | None = None
    record_cycles: Literal["all", "placement"] | None = None
    logging: Logging | None = None
    fake_extenders: tuple[dict[str, Any], ...] | None = None
    policies: Policies | None = None
    release: str | None = None
    feature_gates: dict[str, bool] | None = None
    hold_preemption: bool | None = None
    hold_dispatch: bool | None = None
    tie_break: TieBreak | None = None
    #: Observed: why the configuration was refused.
    error: str | None = None
    steps: list[dict[str, Any]]


class _Head(msgspec.Struct):
    format: Any = None


def looks_like_trace(text: bytes) -> bool:
    """Whether a JSON text declares itself as a trace."""
    if FORMAT.encode() not in text and b'"schedviz-trace' not in text:
        return False
    try:
        head = msgspec.json.decode(text, type=_Head).format
    except (msgspec.DecodeError, RecursionError):
        return False
    return isinstance(head, str) and head.startswith("schedviz-trace/")


def decode_trace(text: bytes, *, check_objects: bool = True) -> TraceFile:
    """Decode a trace. Raises `DecodeError` with a path such as `steps[3].op`."""
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise DecodeError("", "JSON", message=f"this is not JSON ({error})") from None
    if _LONG_NUMBER.search(text):
        _refuse_long_integers(document)
    return trace_from_dict(document, check_objects=check_objects)


def _refuse_long_integers(document: object) -> None:
    """Raises `DecodeError` for an integer that neither Kubernetes nor a session can store."""
    waiting = [("", document)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(f"{path}.{name}" if path else name, member) for name, member in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{path}[{index}]", item) for index, item in enumerate(value)]
        elif isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
            raise DecodeError(path, "an integer of at most 64 bits", str(value))


def trace_from_dict(document: object, *, check_objects: bool = True) -> TraceFile:
    """The trace from decoded JSON, without observed results. Raises `DecodeError`.

    With `check_objects`, the objects of the steps are decoded strictly, too, to report their errors.
    """
    try:
        decoded = msgspec.convert(document, _Members)
    except msgspec.ValidationError as error:
        raise explain_validation_error(error, document, _Members) from None
    if decoded.format != FORMAT:
        raise DecodeError("format", f'"{FORMAT}"', f'"{decoded.format}"')
    if len(decoded.steps) > MAX_STEPS:
        raise DecodeError("steps", f"at most {MAX_STEPS:,} steps", f"{len(decoded.steps):,}")
    steps = tuple(_step(step, f"steps[{index}]", check_objects=check_objects) for index, step in enumerate(decoded.steps))
    members = [name for name in decoded.__struct_fields__ if name not in ("format", "error")]
    present = {name: value for name in members if (value := getattr(decoded, name)) is not None}
    return TraceFile(**{**present, "steps": steps, "document": document})


def trace_of(name: str, text: bytes) -> TraceFile:
    """The trace in a file, for an import. Raises `UnreadableFile` that names the file."""
    try:
        return decode_trace(text)
    except KubeError as error:
        raise UnreadableFile(f"{name}: {error}") from None


def _step(step: dict[str, Any], path: str, *, check_objects: bool) -> Step:
    bare = {key: value for key, value in step.items() if key != "observed"}
    try:
        command: Step = msgspec.convert(bare, Step)
    except msgspec.ValidationError as error:
        raise explain_validation_error(error, bare, _FileStep).inside(path) from None
    if bare.get("op") in _NOT_IN_FILES:
        raise DecodeError(f"{path}.op", "an operation", message=f"the operation {bare['op']!r} is not available in a file")
    if check_objects and isinstance(command, (Create, Update)):
        try:
            codec.from_dict(command.object, strict=True)
        except DecodeError as error:
            raise error.inside(f"{path}.object") from None
    return command
