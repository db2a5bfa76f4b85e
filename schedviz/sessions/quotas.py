"""Quotas of each user, and of all users together: sessions, nodes, pods, objects, cycles and bytes.

Usage is summed in the database, where each session and each experiment stores its own numbers, at most every few seconds; commands that
this process accepted since are added. A few seconds of work can therefore exceed a quota. The exception is the number of sessions, which
is counted within the transaction that creates one. Existing data is never deleted.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Literal
from uuid import UUID

import msgspec
from django.conf import settings
from django.db import transaction
from django.db.models import Count, F, Sum
from django.db.models.functions import Length

from schedviz.sessions.commands.limits import replicas_of
from schedviz.sessions.errors import SessionError
from schedviz.sessions.models import Checkpoint, Experiment, Session, Upload
from schedviz.sessions.queries.database import wait_for_lock
from schedviz.trace.commands import AnyCommand, Create, Cycle, Delete, Evict, Pause, Reset, Run, Schedule, Step, Update

Kind = Literal["sessions", "nodes", "pods", "objects", "cycles", "bytes"]
KINDS: tuple[Kind, ...] = ("sessions", "nodes", "pods", "objects", "cycles", "bytes")
#: How long a usage count is cached.
_FRESH_SECONDS = 2.0
#: The number of the advisory lock under which sessions are created.
_CREATION_LOCK = 7_293_001
#: The quotas of the objects in clusters, and those objects that have quotas of their own.
OBJECT_KINDS: Final[tuple[Kind, ...]] = ("nodes", "pods", "objects")
KIND_OF_OBJECT: Final[dict[str, Kind]] = {"Node": "nodes", "Pod": "pods"}
#: Commands of one request that delete or pause may exceed a quota by a share of it, up to this size: a few that make room, but not many
#: that delete nothing.
FREE_BYTES = 4096
_FREE_SHARE = 0.1
#: What the database stores for a command beside its body and key: the row, its outcome, and its entries in indexes.
_COMMAND_ROW_BYTES = 400
#: The limits of individual users, which `register_user_limits` replaces.
_user_limits: Callable[[int], dict[str, int]] = lambda _user_id: {}  # noqa: E731
#: By user (None: sessions without an owner) or "all": when the usage was counted, and the usage.
_usage_cache: dict[Any, tuple[float, Usage]] = {}


class QuotaReached(SessionError):
    """A quota is used up. The message names the setting."""

    code = "quota_reached"

    def __init__(self, message: str, quota: Quota | None = None) -> None:
        super().__init__(message)
        #: The quota, if it is one of sessions.
        self.quota = quota


class Usage(msgspec.Struct, frozen=True):
    """The total of several sessions, and the bytes of experiments and of uploads that wait for their import."""

    sessions: int = 0
    nodes: int = 0
    pods: int = 0
    #: Of all kinds, with nodes and pods.
    objects: int = 0
    cycles: int = 0
    bytes: int = 0


class Quota(msgspec.Struct, frozen=True):
    """A limit and its usage. `limit` 0 means unlimited."""

    kind: Kind
    setting: str
    limit: int
    used: int
    #: Whether it applies to one user's sessions rather than to all.
    is_own: bool

    def allows(self, more: int) -> bool:
        return not self.limit or self.used + more <= self.limit

    def __str__(self) -> str:
        if self.kind == "sessions":
            subject = "You have" if self.is_own else "This server has"
        else:
            stored = "sessions and experiments" if self.kind == "bytes" else "sessions"
            subject = f"Your {stored} have" if self.is_own else f"The {stored} of this server have"
        return f"{subject} {self.used:,} {self.kind}; {self.setting} allows {self.limit:,}."


def quotas_of(owner_id: int | None, *, fresh: bool = False) -> list[Quota]:
    """The quotas that apply to a user's sessions, and to all. `fresh`: do not use the cache."""
    quotas: list[Quota] = []
    own = _user_limits(owner_id) if owner_id is not None else {}
    for is_own, used, ending in (
        (True, _counted(owner_id, fresh=fresh), "PER_USER"),
        (False, _counted(None, of_all=True, fresh=fresh), "IN_ALL"),
    ):
        for kind in KINDS:
            name = f"{kind.upper()}_{ending}"
            limit = getattr(settings, name)
            if is_own and kind in own:
                name, limit = f"DEMO_{kind.upper()}_PER_VISITOR", own[kind]
            quotas.append(Quota(kind=kind, setting=f"SCHEDVIZ_{name}", limit=limit, used=getattr(used, kind), is_own=is_own))
    return quotas


def is_limited(owner_id: int | None, kind: Kind) -> bool:
    """Whether a quota limits this kind of a user's sessions."""
    return any(quota.limit for quota in quotas_of(owner_id) if quota.kind == kind)


def register_user_limits(limits_of: Callable[[int], dict[str, int]]) -> None:
    """Register a function with the limits of individual users. It is provided by a package above this one, which must not be imported
    here.
    """
    global _user_limits  # noqa: PLW0603
    _user_limits = limits_of


def require_quota(owner_id: int | None, **more: int) -> None:
    """Raises `QuotaReached` if the remaining quota is too small for this many more `sessions`, `nodes`, `pods`, `objects`, `cycles` or
    `bytes`.
    """
    _require_quotas(quotas_of(owner_id), more)


def _require_quotas(quotas: Iterable[Quota], more: Mapping[str, int], *, excess: float = 0.0) -> None:
    """`excess`: the share of each quota by which it may be exceeded."""
    for quota in quotas:
        additional = more.get(quota.kind)
        if additional is not None and not quota.allows(additional - int(quota.limit * excess)):
            addition = f" {additional:,} more are too many." if additional > 1 else ""
            raise QuotaReached(f"{quota}{addition} {_remedy(quota)}", quota)


def _remedy(quota: Quota) -> str:
    stored = "sessions or experiments" if quota.kind == "bytes" else "sessions"
    if quota.is_own:
        return f"Delete {stored} that are not needed."
    return f"Ask the operator of this server to raise it or to delete {stored}."


def require_session_quota(owner_id: int | None, *, nodes: int = 0, pods: int = 0, objects: int = 0) -> None:
    """Raises `QuotaReached` if the user may not have another session with a cluster of this size. `objects`: of all kinds."""
    size = {"nodes": nodes, "pods": pods, "objects": max(objects, nodes + pods)}
    _require_quotas(quotas_of(owner_id, fresh=True), {"sessions": 1, **size, "cycles": 0, "bytes": 1})


@contextmanager
def creating_session(owner_id: int | None) -> Iterator[None]:
    """A transaction that creates one session. Such transactions run one after the other, and sessions are counted within them.

    Raises `QuotaReached`.
    """
    with transaction.atomic():
        wait_for_lock(_CREATION_LOCK)
        require_session_quota(owner_id)
        yield


def command_bytes(key: str, body: bytes) -> int:
    """The bytes that a command counts as. Its key is stored in an index, too."""
    return len(body) + 2 * len(key) + _COMMAND_ROW_BYTES


def require_command_quota(session_id: UUID, commands: Iterable[tuple[AnyCommand, int]], *, is_observed: bool = False) -> None:
    """Raises `QuotaReached` if the remaining quota is too small for these commands and their bytes together. A few commands that delete or
    pause may exceed the quota by a tenth. `is_observed`: the commands come from an observer, which also reports the pods that controllers
    create.
    """
    more: Counter[str] = Counter()
    updated = 0
    is_freeing = True
    for command, size in commands:
        more["bytes"] += size
        if isinstance(command, Delete | Evict | Reset | Pause):
            continue
        is_freeing = False
        more.update(_created_by(command))
        if isinstance(command, Create | Update) and not is_observed and (replicas := replicas_of(command.object)):
            more["pods"] += replicas
            updated += replicas if isinstance(command, Update) else 0
    if not more or not are_limited(more):
        return
    row = Session.objects.filter(pk=session_id).values_list("owner_id", "pods").first()
    owner, pods = row or (None, 0)
    # An update may ask for pods that the session already has.
    needed = {**more, **({"pods": more["pods"] - min(updated, pods)} if updated else {})}
    _require_quotas(quotas_of(owner), needed, excess=_FREE_SHARE if is_freeing and more["bytes"] <= FREE_BYTES else 0.0)
    _add(owner, more)


def require_growth(owner_id: int | None, more: Mapping[str, int], *, present: Mapping[str, int]) -> None:
    """Raises `QuotaReached` if the remaining quota is too small for the `nodes`, `pods` and `objects` by which a session is about to
    grow. Otherwise they count at once in this process.

    `present`: what the session has now, which the database may not count yet.
    """
    quotas = [msgspec.structs.replace(quota, used=max(quota.used, present.get(quota.kind, 0))) for quota in quotas_of(owner_id)]
    _require_quotas(quotas, more)
    _add(owner_id, more)


def require_bytes(owner_id: int | None, more: int) -> None:
    """Raises `QuotaReached` if the remaining quota is too small for this many more bytes. Otherwise they count at once in this process."""
    if are_limited(("bytes",)):
        require_growth(owner_id, {"bytes": more}, present={})


def largest_growth(commands: Iterable[AnyCommand]) -> Counter[str]:
    """By how many nodes, pods and objects these commands let an empty cluster grow at most, with the pods that controllers create for
    workloads.
    """
    grown: Counter[str] = Counter()
    largest: Counter[str] = Counter()
    for command in commands:
        if isinstance(command, Create):
            grown.update(_created_by(command))
            grown["pods"] += replicas_of(command.object)
            largest |= grown
        elif isinstance(command, Delete):
            for kind in ("objects", KIND_OF_OBJECT.get(command.kind, "")):
                grown[kind] -= grown[kind] > 0
    return largest


def _created_by(command: AnyCommand) -> dict[str, int]:
    """The objects that a command creates, without bytes and controllers' pods."""
    match command:
        case Run() | Step() | Cycle() | Schedule():
            return {"cycles": 1}
        case Create():
            kind = KIND_OF_OBJECT.get(str(command.object.get("kind")))
            return {"objects": 1, **({kind: 1} if kind else {})}
    return {}


def _add(owner_id: int | None, more: Mapping[str, int]) -> None:
    """Add accepted work to the cached usage, so that consecutive commands do not spend the same remaining quota."""
    for key in (owner_id, "all"):
        if (cached := _usage_cache.get(key)) is not None:
            counted, usage = cached
            _usage_cache[key] = (
                counted,
                msgspec.structs.replace(usage, **{kind: getattr(usage, kind) + count for kind, count in more.items()}),
            )


def reason_to_stop(owner_id: int | None) -> str:
    """Why a run must stop; "" if it may continue."""
    if not are_limited(("cycles", "bytes")):
        return ""
    try:
        require_quota(owner_id, cycles=1, bytes=1)
    except QuotaReached as reached:
        return str(reached)
    return ""


def clear_cache() -> None:
    """Drop the cached usage."""
    _usage_cache.clear()


def are_limited(kinds: Iterable[str]) -> bool:
    """Whether there is a quota of any of these kinds. Visitors of the demo have one of each."""
    return bool(settings.PUBLIC_DEMO) or any(
        getattr(settings, f"{kind.upper()}_{ending}") for kind in kinds for ending in ("PER_USER", "IN_ALL")
    )


def _counted(owner_id: int | None, *, of_all: bool = False, fresh: bool = False) -> Usage:
    key = "all" if of_all else owner_id
    cached = _usage_cache.get(key)
    now = time.monotonic()
    if not fresh and cached is not None and now - cached[0] < _FRESH_SECONDS:
        return cached[1]
    sessions, checkpoints, experiments = Session.objects.order_by(), Checkpoint.objects.order_by(), Experiment.objects.order_by()
    uploads = Upload.objects.order_by()
    if not of_all:
        sessions, checkpoints = sessions.filter(owner_id=owner_id), checkpoints.filter(session__owner_id=owner_id)
        uploads = uploads.filter(session__owner_id=owner_id)
        experiments = experiments.filter(owner_id=owner_id)
    totals = sessions.aggregate(
        sessions=Count("pk"),
        nodes=Sum("nodes"),
        pods=Sum("pods"),
        objects=Sum("object_count"),
        cycles=Sum(F("cycle") - F("fork_cycle")),
        bytes=Sum(F("history_bytes") + F("command_bytes")),
    )
    saved = checkpoints.aggregate(bytes=Sum(F("engine_bytes") + F("view_bytes")))
    of_experiments = experiments.aggregate(bytes=Sum("stored_bytes"))
    uploaded = uploads.aggregate(bytes=Sum(Length("data")))
    counted = {name: value or 0 for name, value in totals.items()}
    size = counted["bytes"] + sum(one["bytes"] or 0 for one in (saved, of_experiments, uploaded))
    usage = Usage(**{**counted, "cycles": max(0, counted["cycles"]), "bytes": size})
    _usage_cache[key] = (now, usage)
    return usage
