"""What is stored of a session. The database is the single source of truth: everything else may be lost at any time.

Commands are numbered by `seq`, trace events by `event` and stored batches of events by `chunk`, each from 1 without gaps. A fork is a
session of its own, whose events continue the numbering of its parent.
"""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.db import DatabaseError, models
from django.db.models.functions import Now


class Session(models.Model):
    """A scheduling session: a simulated cluster with its scheduler, and the committed position of its engine.

    Not to be confused with a login session of Django.
    """

    class Status(models.TextChoices):
        IMPORTING = "importing"
        READY = "ready"
        RUNNING = "running"
        PAUSED = "paused"
        FAILED = "failed"

    #: The statuses of sessions that were imported and have not failed.
    OPEN_STATUSES = (Status.READY, Status.RUNNING, Status.PAUSED)
    #: Columns to defer where many sessions are read for something else.
    LARGE_COLUMNS = ("settings", "report")
    #: The message of a session whose rows are being deleted.
    BEING_DELETED = "The session is being deleted."

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, related_name="scheduling_sessions")
    name = models.CharField(max_length=200)
    status = models.CharField(max_length=16, choices=Status, default=Status.IMPORTING)
    #: A sentence for users: why the session failed, what was quarantined, or why it backs off and when the next attempt is; "": none.
    message = models.TextField(blank=True, default="")
    #: {"phase", "done", "total", "unit"} during a long operation.
    progress: models.JSONField[Any, Any] = models.JSONField(null=True, blank=True)
    #: The session's source: {"files": [name, ...]}, {"files", "experiment", "trial"} of a trial of an experiment, {"generate": {...}},
    #: {"trace": name}, {"lesson", "lessonVersion"} or, of a fork, {"fork": {"session", "name", "at", "event"}} with its origin and the
    #: moment ("at" as requested), and "release" if that is another.
    #: Also "follows": the cluster that the session follows; in "fork", the one that its origin follows.
    source: models.JSONField[Any, Any] = models.JSONField(default=dict)
    #: The engine's SimulationSettings.
    settings: models.JSONField[Any, Any] = models.JSONField(default=dict)
    #: What the import included and excluded, and why; None until it has ended.
    report: models.JSONField[Any, Any] = models.JSONField(null=True, blank=True)
    #: Whether the owner requested that extenders are called, and was allowed to. A file cannot request it.
    calls_extenders = models.BooleanField(default=False)
    engine_version = models.CharField(max_length=64, blank=True, default="")
    #: The session that it was forked from, which REST calls `forkedFrom`. None: it is not a fork, or that session was deleted.
    origin = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="forks")
    #: The session that has the history before `fork_event` (see lineage.py): its origin, or None if it simulates another release.
    forked_from = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    fork_event = models.BigIntegerField(default=0)
    #: The last cycle that had ended at `fork_event`.
    fork_cycle = models.BigIntegerField(default=0)
    #: The idempotency key of the fork; "" if none was given.
    fork_key = models.CharField(max_length=200, blank=True, default="")
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(auto_now=True)

    # --- The lease of the engine worker that hosts the session (hosting/lease.py)
    #: Increases with every owner. A write with an older epoch matches no row.
    epoch = models.BigIntegerField(default=0)
    lease_owner = models.CharField(max_length=200, blank=True, default="")
    #: In seconds of the database's clock.
    lease_until = models.FloatField(default=0.0)
    #: Owners since the last applied command, including the present one: at 4, three owners in a row have crashed.
    acquisitions = models.PositiveIntegerField(default=0)
    #: The command that is suspected of the last crash. After a crash, the next owner announces each command before it executes it; the
    #: watchdog announces a command that is stuck. 0: no command is suspected: there was no crash since the last commit, or it happened
    #: while an owner loaded the session. -1: the session has backed off since the crash, and is tried again (hosting/lease.py).
    trying_seq = models.BigIntegerField(default=0)
    #: How many owners in a row worked on that command.
    tries = models.PositiveIntegerField(default=0)

    # --- The inbox: web servers advance it when they accept commands
    #: The last accepted command.
    last_seq = models.BigIntegerField(default=0)
    #: The number of the last accepted pause. Runs and steps with smaller numbers stop: a pause does not wait in the inbox for them to end.
    interrupt_seq = models.BigIntegerField(default=0)
    # --- The import
    #: The uploads are complete, so the import may begin.
    uploaded = models.BooleanField(default=False)
    #: A cancellation of the import was requested.
    cancel_requested = models.BooleanField(default=False)
    # --- The committed position: only the owner of the lease advances it
    #: The last completed command.
    applied_seq = models.BigIntegerField(default=0)
    chunk = models.BigIntegerField(default=0)
    cycle = models.BigIntegerField(default=0)
    event = models.BigIntegerField(default=0)
    clock_seconds = models.FloatField(default=0.0)
    # --- Numbers of the history and of the cluster; quotas count most of them
    #: Bytes of events and cycles, and of command bodies; the numbers of objects now.
    history_bytes = models.BigIntegerField(default=0)
    command_bytes = models.BigIntegerField(default=0, db_default=0)
    nodes = models.BigIntegerField(default=0)
    pods = models.BigIntegerField(default=0)
    #: Objects of all kinds, with nodes and pods; a large one counts as several (`ObjectStore.total_weight`).
    object_count = models.BigIntegerField(default=0, db_default=0)
    # --- Breakpoints
    #: Increases when a breakpoint is set, changed or deleted, so that the engine's host notices with its next commit; 0: never.
    breakpoints_edit = models.PositiveIntegerField(default=0)
    #: The breakpoint that stopped the last run: {"breakpoint", "event", "when"}; None once another command was executed.
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
        # Not the name, which must not appear in log lines and admin pages.
        return str(self.id)

    @property
    def follows(self) -> str:
        """The cluster that the session, or the session that it was forked from, follows; "" if none."""
        return str(self.source.get("follows") or self.source.get("fork", {}).get("follows", ""))

    @property
    def source_without_origin(self) -> dict[str, Any]:
        """`source` without the ID and name of the session it was forked from: access to a fork is not access to its origin."""
        source: dict[str, Any] = self.source
        if "fork" not in source:
            return source
        fork = {key: value for key, value in source["fork"].items() if key not in ("session", "name")}
        return {**source, "fork": fork}

    @classmethod
    def is_deleted(cls, session_id: uuid.UUID) -> bool:
        """Whether a session does not exist any more, or is being deleted, so that rows of it may be missing. False if the database does not
        answer.
        """
        deleting = models.Q(status=cls.Status.FAILED, message=cls.BEING_DELETED)
        try:
            return not cls.objects.filter(~deleting, pk=session_id).exists()
        except DatabaseError:
            # Also in a transaction that an error has ended.
            return False

    @property
    def shown_status(self) -> str:
        """The status that users see."""
        return shown_status(self.status, applied_seq=self.applied_seq, last_seq=self.last_seq)


def shown_status(status: str, *, applied_seq: int, last_seq: int) -> str:
    """The status that users see: a session is running while an accepted command is not done, even if no worker hosts it."""
    is_open = status in (Session.Status.READY, Session.Status.PAUSED)
    return str(Session.Status.RUNNING if is_open and applied_seq < last_seq else status)


class Membership(models.Model):
    """A user besides the owner who may view a session, or also command it."""

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
    """A link that gives its holder a role in a session: a viewer sees it, an editor also commands it.

    Only the SHA-256 of its 128 random bits is stored.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="share_links")
    digest = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=16, choices=Membership.Role, default=Membership.Role.VIEWER)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"link {self.pk} to {self.session_id}"


class Command(models.Model):
    """An accepted command and, once it is applied, its outcome."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="commands")
    seq = models.BigIntegerField()
    #: The sender's idempotency key: the same key is the same command.
    key = models.CharField(max_length=200)
    #: The command's JSON. Its objects contain only the fields that the scheduler reads.
    body = models.BinaryField()
    #: The engine's Outcome as JSON; None until applied.
    outcome: models.JSONField[Any, Any] = models.JSONField(null=True, blank=True)
    #: The last event before the CommandDone of a command that a pause, a breakpoint, a quota or the quarantine interrupted. Replay stops
    #: there, too.
    stopped_event = models.BigIntegerField(null=True, blank=True)
    accepted_at = models.DateTimeField(db_default=Now())
    applied_at = models.DateTimeField(null=True, blank=True)
    #: The engine failed on the command, or its workers ended or got stuck. Replay skips it unless `stopped_event` is set: then it was
    #: running, and was interrupted.
    quarantined = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["session", "seq"], name="command_seq_once"),
            models.UniqueConstraint(fields=["session", "key"], name="command_key_once"),
        ]

    def __str__(self) -> str:
        return f"command {self.seq} of {self.session_id}"


class ExtenderAnswer(models.Model):
    """An extender's response: an input, stored with the slice that used it. Replay uses it instead of calling the extender."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="extender_answers")
    #: The event number of its ExtenderAnswered.
    event = models.BigIntegerField()
    body = models.BinaryField()
    #: The error, if the call failed; then there is no body.
    error = models.TextField(blank=True, default="")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "event"], name="extender_answer_once")]

    def __str__(self) -> str:
        return f"extender response at event {self.event} of {self.session_id}"


class Chunk(models.Model):
    """A stored batch of events: the frame that viewers receive, packed (see frames.py and packing.py)."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="chunks")
    number = models.BigIntegerField()
    first_event = models.BigIntegerField()
    last_event = models.BigIntegerField()
    #: Cycles that had ended before the chunk's first event and after its last.
    first_cycle = models.BigIntegerField()
    last_cycle = models.BigIntegerField()
    data = models.BinaryField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "number"], name="chunk_once")]
        indexes: ClassVar = [models.Index(fields=["session", "last_event"], name="chunk_of_event")]

    def __str__(self) -> str:
        return f"chunk {self.number} of {self.session_id}"


class ChunkTally(models.Model):
    """Counts of a chunk's events, and the queue lengths and object counts after them (`trace.tally.Levels`). Number 0 has those at the
    session's beginning.

    This is a table of its own because the timeline reads all of it and must not read the chunks' data.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="tallies")
    number = models.BigIntegerField()
    first_event = models.BigIntegerField()
    last_event = models.BigIntegerField()
    #: At the chunk's end, as are the queue lengths and object counts, from `active_q` on.
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
    """The scheduling cycles that ended in one commit, packed together (see cycle_groups.py): single rows would take ten times the space."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="cycle_groups")
    first_cycle = models.BigIntegerField()
    last_cycle = models.BigIntegerField()
    #: The event that ended the last of the cycles.
    last_event = models.BigIntegerField()
    data = models.BinaryField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "last_cycle"], name="cycle_group_once")]

    def __str__(self) -> str:
        return f"cycles {self.first_cycle} to {self.last_cycle} of {self.session_id}"


class Checkpoint(models.Model):
    """A saved engine and the view of the same moment, or only the view, in blob chunks. It is used only when it is `complete`."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="checkpoints")
    event = models.BigIntegerField()
    chunk = models.BigIntegerField()
    cycle = models.BigIntegerField()
    clock_seconds = models.FloatField(default=0.0)
    #: The last completed command, and whether the next one had begun.
    applied_seq = models.BigIntegerField(default=0)
    in_command = models.BooleanField(default=False)
    #: False: only the view was saved, or thinning deleted the engine.
    has_engine = models.BooleanField(default=True)
    #: Bytes of the blob chunks of each.
    engine_bytes = models.BigIntegerField(default=0)
    view_bytes = models.BigIntegerField(default=0)
    #: Digest of the engine's bytes. Equal engines have equal bytes.
    digest = models.CharField(max_length=128)
    engine_version = models.CharField(max_length=64)
    #: The cost of making it, in seconds.
    cost_seconds = models.FloatField(default=0.0)
    #: The epoch of the writer. Blob chunks of a fenced writer are deleted.
    epoch = models.BigIntegerField(default=0)
    complete = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes: ClassVar = [models.Index(fields=["session", "complete", "-event"], name="checkpoint_newest")]

    def __str__(self) -> str:
        return f"checkpoint at event {self.event} of {self.session_id}"


class CheckpointPiece(models.Model):
    """A blob chunk of a checkpoint, at most 4 MB, which limits the size of transactions. Backups contain the name of the class."""

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
    """The full detail of one cycle, computed by replay and cached."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="details")
    cycle = models.BigIntegerField()
    engine_version = models.CharField(max_length=64)
    #: zlib of JSON; empty if it could not be computed, and then `error` has the reason.
    data = models.BinaryField(default=b"")
    error = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "cycle"], name="detail_once")]

    def __str__(self) -> str:
        return f"detail of cycle {self.cycle} of {self.session_id}"


class Upload(models.Model):
    """At most 1 MB of an uploaded file, encrypted (see uploads/encryption.py). Deleted when the import has ended."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="uploads")
    #: Files are numbered from 0 in the order of arrival.
    file = models.PositiveIntegerField()
    name = models.CharField(max_length=255)
    number = models.PositiveIntegerField()
    data = models.BinaryField()
    #: False: a version without encryption stored it.
    sealed = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "file", "number"], name="upload_once")]

    def __str__(self) -> str:
        return f"{self.name} [{self.number}] of {self.session_id}"


class ChunkNames(models.Model):
    """The index of the pods and nodes in a chunk's events, so that an object's history opens only those chunks (see
    history/object_index.py).
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="chunk_names")
    number = models.BigIntegerField()
    #: Four bytes for each name.
    names = models.BinaryField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "number"], name="chunk_names_once")]

    def __str__(self) -> str:
        return f"names in chunk {self.number} of {self.session_id}"


class Breakpoint(models.Model):
    """A condition at which runs of a session stop (see commands/breakpoints.py)."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="breakpoints")
    #: From 1, in the order of creation. Numbers of deleted breakpoints are not reused.
    number = models.PositiveIntegerField()
    #: The condition as the user wrote it; it was parsed before it was stored.
    when = models.CharField(max_length=500)
    enabled = models.BooleanField(default=True)
    #: How many runs it has stopped, and the event of the last hit.
    hits = models.PositiveIntegerField(default=0)
    last_event = models.BigIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "number"], name="breakpoint_once")]

    def __str__(self) -> str:
        return f"breakpoint {self.number} of {self.session_id}"


class Observer(models.Model):
    """The observer that pushes the state of a real cluster into a session (see observations.py), and its progress."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, primary_key=True, related_name="observer")
    source = models.CharField(max_length=100)
    #: The last accepted batch and the digest of its text, with which a repetition is recognized.
    n = models.BigIntegerField(default=0)
    digest = models.CharField(max_length=64, blank=True, default="")
    #: The number of events in all batches, and the last command made from them.
    events = models.BigIntegerField(default=0)
    last_seq = models.BigIntegerField(default=0)
    #: The version of the cluster's API server, such as "v1.36.0"; "": not known.
    version = models.CharField(max_length=64, blank=True, default="", db_default="")
    #: The last batch that had times of decisions (see decision_times.py); 0: none had.
    last_times = models.BigIntegerField(default=0, db_default=0)
    created_at = models.DateTimeField(db_default=Now())
    pushed_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.source} of {self.session_id}"


class DecisionBatch(models.Model):
    """The times of decisions of a followed cluster's scheduler in batch `n`: a JSON array of `DecisionTime`."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="decision_batches")
    n = models.BigIntegerField()
    times = models.BinaryField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "n"], name="decisions_once")]

    def __str__(self) -> str:
        return f"batch {self.n} of {self.session_id}"


class Observed(models.Model):
    """The last observed state of an object, so that a reconnecting observer sends only later changes."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="observed")
    kind = models.CharField(max_length=63)
    #: `namespace/name`, or only the name for cluster-scoped objects.
    key = models.CharField(max_length=512)
    uid = models.CharField(max_length=128, blank=True, default="")
    #: The version that the observer sent with the object; compared only for equality.
    version = models.CharField(max_length=64, blank=True, default="")
    terminating = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "kind", "key"], name="observed_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key} of {self.session_id}"


class SchedulerMetrics(models.Model):
    """The metrics of a session's scheduler (see metrics/stored_metrics.py), at most a few seconds behind the session."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, primary_key=True, related_name="scheduler_metrics")
    event = models.BigIntegerField()
    data = models.BinaryField()
    updated_at = models.DateTimeField(db_default=Now(), db_index=True)

    class Meta:
        db_table = "scheduling_schedulerfigures"

    def __str__(self) -> str:
        return f"metrics of {self.session_id} up to event {self.event}"


class ShadowedPod(models.Model):
    """A pod of a followed cluster: the node that this scheduler would have chosen when the pod arrived, and the verdict on its real
    binding.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="shadowed")
    #: `namespace/name`.
    pod = models.CharField(max_length=512)
    uid = models.CharField(max_length=128, blank=True, default="")
    #: The event with which the pod arrived, and the choice then; None: it arrived before the session followed the cluster.
    arrived_event = models.BigIntegerField(null=True, blank=True)
    arrival: models.JSONField[Any, Any] = models.JSONField(null=True, blank=True)
    #: The last event before its binding; None while it is pending.
    bound_event = models.BigIntegerField(null=True, blank=True)
    node = models.CharField(max_length=253, blank=True, default="")
    #: "" while it is pending, and while its binding waits for others that were in flight.
    verdict = models.CharField(max_length=16, blank=True, default="")
    judgement: models.JSONField[Any, Any] = models.JSONField(null=True, blank=True)
    #: When the binding was judged.
    judged_at = models.DateTimeField(null=True, blank=True)
    #: The pod's schedulerName.
    profile = models.CharField(max_length=253, blank=True, default="", db_default="")
    #: Why the binding does not agree, and the plugin that makes the largest difference.
    cause = models.CharField(max_length=16, blank=True, default="", db_default="")
    plugin = models.CharField(max_length=253, blank=True, default="", db_default="")
    #: The queue in which it waits in the real scheduler, as its conditions imply (see observing/pending.py); "": unknown.
    place = models.CharField(max_length=16, blank=True, default="", db_default="")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "pod", "uid"], name="shadowed_once")]
        indexes: ClassVar = [
            models.Index(fields=["session", "-bound_event"], name="shadowed_newest"),
            models.Index(fields=["session", "verdict", "-bound_event"], name="shadowed_of_verdict"),
        ]

    def __str__(self) -> str:
        return f"{self.pod} of {self.session_id}"


class Agreement(models.Model):
    """The number of real bindings per verdict, since a session began to follow. Only the owner of the lease writes it."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, primary_key=True, related_name="agreement")
    agrees = models.BigIntegerField(default=0)
    not_best = models.BigIntegerField(default=0)
    infeasible = models.BigIntegerField(default=0)
    undecided = models.BigIntegerField(default=0, db_default=0)
    unjudged = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"agreement of {self.session_id}"


class Experiment(models.Model):
    """A plan whose trials workers run (see experiments/). The fields from `epoch` to `tries` are the lease of the worker that checks it."""

    class Status(models.TextChoices):
        CHECKING = "checking"
        RUNNING = "running"
        PAUSED = "paused"
        CANCELLED = "cancelled"
        FINISHED = "finished"
        #: The plan was refused: see `faults`.
        REFUSED = "refused"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, related_name="experiments")
    name = models.CharField(max_length=200)
    #: YAML, as it was sent.
    plan = models.TextField()
    status = models.CharField(max_length=16, choices=Status, default=Status.CHECKING)
    #: The plan with more variants, which a worker has yet to check; "": none.
    added_plan = models.TextField(blank=True, default="")
    #: Once its plan is checked, it is paused until its owner resumes it.
    hold = models.BooleanField(default=False)
    #: Seconds of one core for a trial, estimated with the first one when the plan of an experiment on hold was checked.
    estimate = models.FloatField(null=True, blank=True)
    #: Why the plan, or the last one that was added, was refused, or the trials were paused: [{"path", "message", "line", "variant"}].
    faults: models.JSONField[Any, Any] = models.JSONField(default=list)
    #: The measures of the plan without their functions, once it is checked: MeasureInfo.
    measures: models.JSONField[Any, Any] = models.JSONField(default=list)
    #: The size of the base.
    nodes = models.BigIntegerField(default=0)
    pods = models.BigIntegerField(default=0)
    trials = models.PositiveIntegerField(default=0)
    #: Of the plan, the base and the results, for the quotas.
    stored_bytes = models.BigIntegerField(default=0, db_default=0)
    engine_version = models.CharField(max_length=64, blank=True, default="")
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    epoch = models.BigIntegerField(default=0)
    lease_owner = models.CharField(max_length=200, blank=True, default="")
    #: In seconds of the database's clock.
    lease_until = models.FloatField(default=0.0)
    tries = models.PositiveIntegerField(default=0)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["owner", "-created_at"], name="experiment_of_owner"),
            models.Index(fields=["status"], name="experiment_status"),
        ]

    def __str__(self) -> str:
        return str(self.id)


class ExperimentBase(models.Model):
    """What all trials of an experiment load, packed (BaseCluster). A table of its own, because lists of experiments do not read it."""

    experiment = models.OneToOneField(Experiment, on_delete=models.CASCADE, primary_key=True, related_name="base")
    data = models.BinaryField()

    def __str__(self) -> str:
        return f"base of {self.experiment_id}"


class ExperimentTrial(models.Model):
    """One trial of an experiment: the lease of the worker that runs it, and its result, which is stored once."""

    class Status(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="trial_rows")
    #: Its place in the plan, from 0.
    number = models.PositiveIntegerField()
    variant = models.CharField(max_length=1000)
    seed = models.BigIntegerField(null=True, blank=True)
    status = models.CharField(max_length=16, choices=Status, default=Status.WAITING)
    #: Increases with every owner. A result with an older epoch matches no row.
    epoch = models.BigIntegerField(default=0)
    lease_owner = models.CharField(max_length=200, blank=True, default="")
    lease_until = models.FloatField(default=0.0)
    #: Owners until now: after several have crashed, the trial fails.
    tries = models.PositiveIntegerField(default=0)
    #: The TrialResult without its volatile numbers and without what `detail` has, as JSON, compressed. Equal trials have equal bytes.
    result = models.BinaryField(null=True, blank=True)
    #: Placements, series and node shares of the TrialResult, stored alike. They are large, and few of them are read.
    detail = models.BinaryField(null=True, blank=True)
    #: Column -> number, of measures that equal trials can differ in.
    volatile: models.JSONField[Any, Any] = models.JSONField(default=dict)
    #: In one line; "": none.
    error = models.TextField(blank=True, default="")
    #: Wall time of the run.
    seconds = models.FloatField(default=0.0)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["experiment", "number"], name="trial_once")]
        indexes: ClassVar = [models.Index(fields=["experiment", "status"], name="trial_of_status")]

    def __str__(self) -> str:
        return f"trial {self.number} of {self.experiment_id}"
