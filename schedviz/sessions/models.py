"""What is stored of a session. The database is the only truth: whatever is not here may be lost at any time.

Numbers: a command has a `seq`, a trace event an `event`, a stored batch of events a `chunk`, all from 1 without gaps. The events of a
fork, which is a session of its own, go on from those of the session that it was forked from.
"""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class Session(models.Model):
    """A scheduling session: a simulated cluster with its scheduler, and where its engine has got to.

    Not to be confused with Django's session of a browser. The members from `epoch` to `trying_seq` are the lease (see lease.py);
    those from `last_seq` to `clock_seconds` are the committed position, moved only by the owner of the lease.
    """

    class Status(models.TextChoices):
        IMPORTING = "importing"
        READY = "ready"
        RUNNING = "running"
        PAUSED = "paused"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, related_name="scheduling_sessions")
    name = models.CharField(max_length=200)
    status = models.CharField(max_length=16, choices=Status, default=Status.IMPORTING)
    #: A sentence for people: why it failed, or what was quarantined.
    message = models.TextField(blank=True, default="")
    #: {"phase", "done", "total", "unit"} while something long goes on.
    progress: models.JSONField[Any, Any] = models.JSONField(null=True, blank=True)
    #: What it is made from: {"files": [name, ...]}, {"generate": {...}} or {"trace": name}; "follows" is the cluster that it shadows.
    source: models.JSONField[Any, Any] = models.JSONField(default=dict)
    #: The engine's SimulationSettings.
    settings: models.JSONField[Any, Any] = models.JSONField(default=dict)
    #: What the import brought in, what it left out and why; None until it ended.
    report: models.JSONField[Any, Any] = models.JSONField(null=True, blank=True)
    #: Whoever made it asked that its extenders are called, and was allowed to. No file can ask for it.
    calls_extenders = models.BooleanField(default=False)
    engine_version = models.CharField(max_length=64, blank=True, default="")
    #: The session that it was forked from. None: it is not a fork, or that session was deleted.
    origin = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="all_forks")
    #: The session that has the history before `fork_event` (see lineage.py): its origin, or None if it simulates another release.
    forked_from = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="forks")
    fork_event = models.BigIntegerField(default=0)
    #: The last cycle that had ended then.
    fork_cycle = models.BigIntegerField(default=0)
    #: Chosen by whoever forked it, who may repeat it; "": none was.
    fork_key = models.CharField(max_length=200, blank=True, default="")
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(auto_now=True)

    #: Grows with every owner; a write of an older epoch matches no row.
    epoch = models.BigIntegerField(default=0)
    lease_owner = models.CharField(max_length=200, blank=True, default="")
    #: In seconds of the database's clock.
    lease_until = models.FloatField(default=0.0)
    #: Owners since anything was applied, the present one included: who counts a fourth knows that three died of it.
    acquisitions = models.PositiveIntegerField(default=0)
    #: The command that the latest of them was working on; 0: it was still loading; -1: the session rested since.
    trying_seq = models.BigIntegerField(default=0)
    #: How many of them in a row were working on that command.
    tries = models.PositiveIntegerField(default=0)

    #: The last command that was accepted.
    last_seq = models.BigIntegerField(default=0)
    #: Runs up to this command are to stop: a pause overtakes the queue.
    interrupt_seq = models.BigIntegerField(default=0)
    #: All of what it is made from has arrived: an import may begin.
    uploaded = models.BooleanField(default=False)
    #: The import is to stop.
    cancel_requested = models.BooleanField(default=False)
    #: The last command that was done to its end.
    applied_seq = models.BigIntegerField(default=0)
    chunk = models.BigIntegerField(default=0)
    cycle = models.BigIntegerField(default=0)
    event = models.BigIntegerField(default=0)
    clock_seconds = models.FloatField(default=0.0)
    #: Bytes of its events and cycles, of the bodies of its commands, and what its cluster has now: what quotas count.
    history_bytes = models.BigIntegerField(default=0)
    command_bytes = models.BigIntegerField(default=0, db_default=0)
    nodes = models.BigIntegerField(default=0)
    pods = models.BigIntegerField(default=0)
    #: Grows when a breakpoint is set, changed or deleted, so that its engine's host sees it with the next commit; 0: there never was one.
    breakpoints_edit = models.PositiveIntegerField(default=0)
    #: The breakpoint that stopped the last run: {"breakpoint", "event", "when"}; None where something was done since.
    hit: models.JSONField[Any, Any] = models.JSONField(null=True, blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["owner", "-created_at"], name="session_of_owner"),
            models.Index(fields=["status", "lease_owner"], name="session_unowned"),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["origin", "owner", "fork_key"], condition=~models.Q(fork_key=""), name="fork_key_unique"),
        ]

    def __str__(self) -> str:
        # Not its name, which log lines and admin pages must not show.
        return str(self.id)

    @property
    def follows(self) -> str:
        """The cluster that it shadows, or that the session shadowed which it was forked from; "": none."""
        return str(self.source.get("follows") or self.source.get("fork", {}).get("follows", ""))

    @property
    def shown_status(self) -> str:
        """The status as everybody is told it."""
        return shown_status(self.status, applied_seq=self.applied_seq, last_seq=self.last_seq)


def shown_status(status: str, *, applied_seq: int, last_seq: int) -> str:
    """A session's status as everybody is told it: it runs as long as an accepted command is not done, whoever works on it."""
    is_open = status in (Session.Status.READY, Session.Status.PAUSED)
    return str(Session.Status.RUNNING if is_open and applied_seq < last_seq else status)


class Membership(models.Model):
    """Somebody besides the owner who may see a session, or also command it."""

    class Role(models.TextChoices):
        VIEWER = "viewer"
        EDITOR = "editor"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="scheduling_memberships")
    role = models.CharField(max_length=16, choices=Role, default=Role.VIEWER)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "user"], name="membership_once")]

    def __str__(self) -> str:
        return f"{self.user_id} {self.role} of {self.session_id}"


class ShareLink(models.Model):
    """A link that lets whoever has it see a session. Only the SHA-256 of its 128 random bits is kept."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="share_links")
    digest = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=16, choices=Membership.Role, default=Membership.Role.VIEWER)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"link {self.pk} to {self.session_id}"


class Command(models.Model):
    """An accepted command and, once it is applied, what came of it."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="commands")
    seq = models.BigIntegerField()
    #: Chosen by the sender, who may repeat it: the same key is the same command.
    key = models.CharField(max_length=200)
    #: The command's JSON, its objects stripped to what the scheduler reads.
    body = models.BinaryField()
    #: The engine's Outcome as JSON; None until applied.
    outcome: models.JSONField[Any, Any] = models.JSONField(null=True, blank=True)
    #: Where the command was cut short by a pause, as the number of the event before its CommandDone: replay stops there too.
    stopped_event = models.BigIntegerField(null=True, blank=True)
    accepted_at = models.DateTimeField(db_default=Now())
    applied_at = models.DateTimeField(null=True, blank=True)
    #: It killed its owners or broke the engine, and was quarantined. Replay leaves it out unless `stopped_event` says how far it came.
    quarantined = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["session", "seq"], name="command_seq_once"),
            models.UniqueConstraint(fields=["session", "key"], name="command_key_once"),
        ]

    def __str__(self) -> str:
        return f"command {self.seq} of {self.session_id}"


class ExtenderAnswer(models.Model):
    """What an extender answered: an input, stored with what the engine did with it. Replay takes it and calls nobody."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="extender_answers")
    #: The number of its ExtenderAnswered.
    event = models.BigIntegerField()
    body = models.BinaryField()
    #: What went wrong; then there is no body.
    error = models.TextField(blank=True, default="")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "event"], name="extender_answer_once")]

    def __str__(self) -> str:
        return f"answer at event {self.event} of {self.session_id}"


class Chunk(models.Model):
    """A stored batch of events: the frame that viewers get, packed (see frames.py and packing.py)."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="chunks")
    number = models.BigIntegerField()
    first_event = models.BigIntegerField()
    last_event = models.BigIntegerField()
    #: Cycles that ended up to the chunk's beginning and end.
    first_cycle = models.BigIntegerField()
    last_cycle = models.BigIntegerField()
    data = models.BinaryField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "number"], name="chunk_once")]
        indexes: ClassVar = [models.Index(fields=["session", "last_event"], name="chunk_of_event")]

    def __str__(self) -> str:
        return f"chunk {self.number} of {self.session_id}"


class ChunkTally(models.Model):
    """What a chunk's events amount to, in numbers; number 0 holds the levels that a session began with.

    A table of its own: the timeline reads all of them, and they must not lie behind the chunks' data.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="tallies")
    number = models.BigIntegerField()
    first_event = models.BigIntegerField()
    last_event = models.BigIntegerField()
    #: At its end, as are the levels, which come last.
    clock_seconds = models.FloatField()
    cycles = models.IntegerField(default=0)
    scheduled = models.IntegerField(default=0)
    unschedulable = models.IntegerField(default=0)
    errors = models.IntegerField(default=0)
    preempted = models.IntegerField(default=0)
    bound = models.IntegerField(default=0)
    pod_moves = models.IntegerField(default=0)
    node_changes = models.IntegerField(default=0)
    active_q = models.IntegerField(default=0)
    backoff_q = models.IntegerField(default=0)
    unschedulable_pods = models.IntegerField(default=0)
    pods = models.IntegerField(default=0)
    nodes = models.IntegerField(default=0)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "number"], name="tally_once")]

    def __str__(self) -> str:
        return f"tally of chunk {self.number} of {self.session_id}"


class CycleGroup(models.Model):
    """Scheduling cycles that ended in one commit, packed (see cycle_groups.py): alone, each would take ten times as much."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="cycle_groups")
    first_cycle = models.BigIntegerField()
    last_cycle = models.BigIntegerField()
    #: The one that says that the last of them ended.
    last_event = models.BigIntegerField()
    data = models.BinaryField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "last_cycle"], name="cycle_group_once")]

    def __str__(self) -> str:
        return f"cycles {self.first_cycle} to {self.last_cycle} of {self.session_id}"


class Checkpoint(models.Model):
    """A saved engine and the view of the same moment, in pieces, or that view alone. It counts only once it is `complete`."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="checkpoints")
    event = models.BigIntegerField()
    chunk = models.BigIntegerField()
    cycle = models.BigIntegerField()
    clock_seconds = models.FloatField(default=0.0)
    #: The last command that was done, and whether the next one was begun.
    applied_seq = models.BigIntegerField(default=0)
    in_command = models.BooleanField(default=False)
    #: False: the view alone was saved, or is all that thinning left.
    has_engine = models.BooleanField(default=True)
    #: Bytes of the pieces of each.
    engine_bytes = models.BigIntegerField(default=0)
    view_bytes = models.BigIntegerField(default=0)
    #: Of the engine's bytes: equal engines save themselves equally.
    digest = models.CharField(max_length=128)
    engine_version = models.CharField(max_length=64)
    #: What it cost to make, in seconds.
    cost_seconds = models.FloatField(default=0.0)
    #: The epoch of its writer: pieces of a writer that was fenced are swept away.
    epoch = models.BigIntegerField(default=0)
    complete = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes: ClassVar = [models.Index(fields=["session", "complete", "-event"], name="checkpoint_newest")]

    def __str__(self) -> str:
        return f"checkpoint at event {self.event} of {self.session_id}"


class CheckpointPiece(models.Model):
    """At most 4 MB of a checkpoint, so that no transaction is larger."""

    class Part(models.TextChoices):
        ENGINE = "engine"
        VIEW = "view"

    checkpoint = models.ForeignKey(Checkpoint, on_delete=models.CASCADE, related_name="pieces")
    part = models.CharField(max_length=8, choices=Part)
    number = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["checkpoint", "part", "number"], name="piece_once")]

    def __str__(self) -> str:
        return f"{self.part} piece {self.number} of checkpoint {self.checkpoint_id}"


class CycleDetail(models.Model):
    """Everything about one cycle, made again by replay and kept for the next who asks."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="details")
    cycle = models.BigIntegerField()
    engine_version = models.CharField(max_length=64)
    #: zlib of JSON; empty where it could not be made, then `error` says why.
    data = models.BinaryField(default=b"")
    error = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "cycle"], name="detail_once")]

    def __str__(self) -> str:
        return f"detail of cycle {self.cycle} of {self.session_id}"


class Upload(models.Model):
    """At most 1 MB of an uploaded file, encrypted (see uploads.py); deleted when the import has ended."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="uploads")
    #: Files are numbered from 0 in the order in which they came.
    file = models.PositiveIntegerField()
    name = models.CharField(max_length=255)
    number = models.PositiveIntegerField()
    data = models.BinaryField()
    #: False: it was stored by a version that did not encrypt.
    sealed = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "file", "number"], name="upload_once")]

    def __str__(self) -> str:
        return f"{self.name} [{self.number}] of {self.session_id}"


class ChunkNames(models.Model):
    """Which pods and nodes the events of a chunk speak of, so that a story opens those chunks alone (see story_index.py)."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="chunk_names")
    number = models.BigIntegerField()
    #: Four bytes for each name.
    names = models.BinaryField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "number"], name="chunk_names_once")]

    def __str__(self) -> str:
        return f"names in chunk {self.number} of {self.session_id}"


class Breakpoint(models.Model):
    """Where runs of a session stop (see breakpoints.py)."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="breakpoints")
    #: From 1, in the order in which they were set; a deleted one's is not used again.
    number = models.PositiveIntegerField()
    #: As it was written; it was parsed before it was stored.
    when = models.CharField(max_length=500)
    enabled = models.BooleanField(default=True)
    #: How many runs it has stopped, and the event of the last time.
    hits = models.PositiveIntegerField(default=0)
    last_event = models.BigIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "number"], name="breakpoint_once")]

    def __str__(self) -> str:
        return f"breakpoint {self.number} of {self.session_id}"


class Observer(models.Model):
    """Who pushes what it sees of a real cluster into a session (see observations.py), and how far it has got."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, primary_key=True, related_name="observer")
    source = models.CharField(max_length=100)
    #: The last batch that was taken, and the digest of its text: the same one may come again.
    n = models.BigIntegerField(default=0)
    digest = models.CharField(max_length=64, blank=True, default="")
    #: Events in all of them, and the command that the last of them became.
    events = models.BigIntegerField(default=0)
    last_seq = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())
    pushed_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.source} of {self.session_id}"


class Observed(models.Model):
    """An object that an observer saw last as being there, so that whoever comes back sends only what has changed since."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="observed")
    kind = models.CharField(max_length=63)
    #: `namespace/name`, or the name alone.
    key = models.CharField(max_length=512)
    uid = models.CharField(max_length=128, blank=True, default="")
    #: The observer's word for what it last sent of it; compared for equality alone.
    version = models.CharField(max_length=64, blank=True, default="")
    terminating = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "kind", "key"], name="observed_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key} of {self.session_id}"


class SchedulerFigures(models.Model):
    """What was counted of a session's scheduler, for /metrics (see metrics/keeping.py): up to an event, a few seconds behind at most."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, primary_key=True, related_name="scheduler_figures")
    event = models.BigIntegerField()
    data = models.BinaryField()
    updated_at = models.DateTimeField(db_default=Now(), db_index=True)

    def __str__(self) -> str:
        return f"figures of {self.session_id} up to event {self.event}"


class ShadowedPod(models.Model):
    """A pod of a followed cluster: what this scheduler would have chosen when it came, and as what its real binding was judged."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="shadowed")
    #: `namespace/name`.
    pod = models.CharField(max_length=512)
    uid = models.CharField(max_length=128, blank=True, default="")
    #: The event with which it was there, and the choice then; None: it was there before anybody looked.
    arrived_event = models.BigIntegerField(null=True, blank=True)
    arrival: models.JSONField[Any, Any] = models.JSONField(null=True, blank=True)
    #: The last event before its binding; None: it waits.
    bound_event = models.BigIntegerField(null=True, blank=True)
    node = models.CharField(max_length=253, blank=True, default="")
    #: "": it waits.
    verdict = models.CharField(max_length=16, blank=True, default="")
    judgement: models.JSONField[Any, Any] = models.JSONField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "pod", "uid"], name="shadowed_once")]
        indexes: ClassVar = [
            models.Index(fields=["session", "-bound_event"], name="shadowed_newest"),
            models.Index(fields=["session", "verdict", "-bound_event"], name="shadowed_of_verdict"),
        ]

    def __str__(self) -> str:
        return f"{self.pod} of {self.session_id}"


class Agreement(models.Model):
    """How many real bindings were judged as what, since a session began to follow. Written by the owner of its lease alone."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, primary_key=True, related_name="agreement")
    agrees = models.BigIntegerField(default=0)
    not_best = models.BigIntegerField(default=0)
    infeasible = models.BigIntegerField(default=0)
    unjudged = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"agreement of {self.session_id}"
