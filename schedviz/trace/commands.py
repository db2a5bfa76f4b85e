"""A session's commands as data: the operations of a schedviz-trace/1 file, and the page's requests.

A command is decoded from JSON by its `op` (an unknown op, member or type is a `msgspec.ValidationError` that names its path), stored as the
same JSON, and executed by the engine.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from schedviz.kube.lines import ONE_LINE_OF_JSON_SCHEMA

PositiveCount = Annotated[int, Meta(ge=1, le=1_000_000)]
#: The longest time that one command lets pass.
MAX_SECONDS: Final = 100_000_000
Seconds = Annotated[float, Meta(ge=0, le=MAX_SECONDS)]
#: Maximum lengths of names in commands. They apply to new commands, where these are accepted (`sessions/commands/stored_form.py`); stored
#: commands are always readable.
MAX_LENGTHS: Final = {"kind": 63, "name": 253, "namespace": 63, "node": 253, "pod": 63 + 1 + 253, "plugin": 253, "message": 4096}
ObjectName = Annotated[str, Meta(extra_json_schema={"maxLength": MAX_LENGTHS["name"], "pattern": ONE_LINE_OF_JSON_SCHEMA})]
NamespaceName = Annotated[str, Meta(extra_json_schema={"maxLength": MAX_LENGTHS["namespace"], "pattern": ONE_LINE_OF_JSON_SCHEMA})]
Message = Annotated[str, Meta(extra_json_schema={"maxLength": MAX_LENGTHS["message"]})]
PodKey = Annotated[
    str, Meta(min_length=1, max_length=512, extra_json_schema={"maxLength": MAX_LENGTHS["pod"], "pattern": ONE_LINE_OF_JSON_SCHEMA})
]

#: What loses a watch event: everything, or only the scheduler's handlers (FORMAT.md, `drop`).
Drop = Literal["watch", "handlers"]


class Command(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="op", rename="camel"):
    """One request to a session."""


class Create(Command, frozen=True, tag="create"):
    """Create an object at the API server."""

    object: dict[str, Any]
    drop: Drop | None = None


class Update(Command, frozen=True, tag="update"):
    """Replace an object at the API server."""

    object: dict[str, Any]
    drop: Drop | None = None


class Delete(Command, frozen=True, tag="delete"):
    """Delete an object.

    It stays, with a deletionTimestamp, if it is a pod and `graceful` is set, or if `finalizers` says that it has any.
    """

    kind: str
    name: ObjectName
    namespace: NamespaceName = "default"
    graceful: bool = False
    finalizers: bool = False
    drop: Drop | None = None


class Schedule(Command, frozen=True, tag="schedule"):
    """Run one scheduling cycle and hold its binding cycle. If the pod cannot be scheduled, `during` happens before it goes back to the
    queue.
    """

    during: Annotated[list[Create | Update | Delete], Meta(max_length=1000)] = []


class Preempt(Command, frozen=True, tag="preempt"):
    """v1.36: carry out a preemption that is held (setting `holdPreemption`); `*` is the oldest."""

    pod: PodKey = "*"
    #: When the watch events of its writes arrive: while it runs, or after it.
    deliver: Literal["during", "after"] = "after"
    #: The error that every deletion of a pod gets; "": none.
    fail: Message = ""


class Dispatch(Command, frozen=True, tag="dispatch"):
    """v1.36 with SchedulerAsyncAPICalls: make the pending API calls (setting `holdDispatch`)."""


class Bind(Command, frozen=True, tag="bind"):
    """Run a held binding cycle; `*` is the oldest."""

    pod: PodKey = "*"


class BindFail(Command, frozen=True, tag="bind_fail"):
    """Run a held binding cycle whose Bind call returns an error, after the write when `after_write`."""

    pod: PodKey = "*"
    message: Message = "bind failed"
    after_write: bool = False


class Confirm(Command, frozen=True, tag="confirm"):
    """Deliver the watch event of a binding; with `node`, of another scheduler's binding to that node."""

    pod: PodKey = "*"
    node: ObjectName | None = None


class Cycle(Command, frozen=True, tag="cycle"):
    """Schedule, bind and confirm one pod."""


class Run(Command, frozen=True, tag="run"):
    """Run cycles until nothing can be scheduled, `max` cycles ran or a pause arrived; `rate` is in cycles per second of wall time."""

    max: PositiveCount | None = None
    rate: Annotated[float, Meta(gt=0, le=10_000)] | None = None


class Advance(Command, frozen=True, tag="advance"):
    """Move the virtual clock by `seconds`, or `to` the next timer. Then what is due happens: each flush of the queue runs once, however
    long the time was.
    """

    seconds: Seconds | None = None
    to: Literal["next"] | None = None


class Snapshot(Command, frozen=True, tag="snapshot"):
    """Run UpdateSnapshot only."""


class Step(Command, frozen=True, tag="step"):
    """Advance by `count` units. The engine runs whole stages; for `mutation` it runs one stage, and the page reveals its events one at a
    time.
    """

    unit: Literal["mutation", "stage", "cycle"] = "cycle"
    count: PositiveCount = 1


class Pause(Command, frozen=True, tag="pause"):
    """Stop a run. It overtakes the commands before it."""


class Latency(Command, frozen=True, tag="latency"):
    """Set how long watch events of a kind take to reach the scheduler; `*` is every kind."""

    kind: str
    seconds: Seconds


class Watch(Command, frozen=True, tag="watch"):
    """Change the watch of a kind (`*`: every kind): `drop` its next events, `disconnect` it so that it misses events, or `reconnect` it,
    which lists again and sends every difference to the scheduler. Exactly one of the three.
    """

    kind: str
    drop: PositiveCount | None = None
    disconnect: bool = False
    reconnect: bool = False


#: Simulated controllers, in the order in which they act.
HelperName = Literal[
    "kubelet", "nodeLifecycle", "podGc", "deployments", "replicaSets", "pvBinder", "pdbStatus", "resourceClaims", "deviceDriver"
]


class Helper(Command, frozen=True, tag="helper"):
    """Enable or disable a simulated controller. `seconds`: the time until a pod runs (kubelet), or a node must be gone (podGc)."""

    name: HelperName
    on: bool = True
    seconds: Seconds | None = None


class Cordon(Command, frozen=True, tag="cordon"):
    """Set a node's spec.unschedulable; with `on` false, clear it."""

    node: ObjectName
    on: bool = True


class Evict(Command, frozen=True, tag="evict"):
    """Evict a pod with the eviction API, which respects disruption budgets."""

    pod: PodKey


class Drain(Command, frozen=True, tag="drain"):
    """Cordon a node and evict its pods, once each. The result names the pods that a budget protects."""

    node: ObjectName


class Permit(Command, frozen=True, tag="permit"):
    """Answer for a pod that waits at Permit, for one plugin or for all."""

    pod: PodKey
    action: Literal["allow", "reject"]
    plugin: ObjectName | None = None
    #: The reason for the rejection.
    message: Message = "rejected by hand"


class Configure(Command, frozen=True, tag="configure"):
    """Replace the scheduler's KubeSchedulerConfiguration (null: the default one) between two cycles; cache and queue are kept. With
    `restart`, the scheduler restarts with it.
    """

    config: dict[str, Any] | None
    restart: bool = False


class Restart(Command, frozen=True, tag="restart"):
    """Restart the scheduler: cache, queue, snapshot and nominator are dropped and the informers list again."""


class Reset(Command, frozen=True, tag="reset"):
    """Go back to the state after the import."""


AnyCommand = (
    Create
    | Update
    | Delete
    | Schedule
    | Bind
    | BindFail
    | Confirm
    | Preempt
    | Dispatch
    | Cycle
    | Run
    | Advance
    | Snapshot
    | Step
    | Pause
    | Latency
    | Watch
    | Helper
    | Cordon
    | Evict
    | Drain
    | Permit
    | Configure
    | Restart
    | Reset
)

_decoder: msgspec.json.Decoder[AnyCommand] = msgspec.json.Decoder(AnyCommand)


def decode_command(data: bytes) -> AnyCommand:
    """A command from its JSON.

    Raises `msgspec.ValidationError` with the path of the invalid value, `msgspec.DecodeError` if it is not JSON.
    """
    return _decoder.decode(data)


def convert_command(data: object) -> AnyCommand:
    """A command from already decoded JSON. Raises `msgspec.ValidationError`."""
    command: AnyCommand = msgspec.convert(data, AnyCommand)
    return command


def encode_command(command: AnyCommand) -> bytes:
    """The JSON of a command, as it is stored. `op` is always its first member, so the beginning of a stored body is enough to read it."""
    return msgspec.json.encode(command)


def op_of(command: AnyCommand) -> str:
    """The `op` of a command."""
    return str(type(command).__struct_config__.tag)
