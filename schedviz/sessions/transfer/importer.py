"""Imports uploads: creates a session's first checkpoint, in an io worker with limits on time and memory.

Take the lease · read the files or generate a cluster · load the engine · save it · queue a trace's steps · open the session.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

import msgspec
from billiard.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F

from schedviz.engine import RULES_OF_NEW_SESSIONS, Simulation, SimulationSettings, graceful_victims
from schedviz.engine.cluster.object_weight import weight_of
from schedviz.explain.doctor import Examination
from schedviz.explain.doctor.import_check import cut_examination, differences_in_words, examine_import
from schedviz.ingest.errors import ImportCancelled, IngestError
from schedviz.ingest.generate import generate, parse_generate_spec
from schedviz.ingest.limits import Limits
from schedviz.ingest.load import Import, Progress, load
from schedviz.ingest.release_evidence import with_release
from schedviz.ingest.report import Report
from schedviz.ingest.trace_file import TraceFile
from schedviz.kube.apps import Deployment, ReplicaSet
from schedviz.kube.meta import KubeObject
from schedviz.sessions import frames, quotas
from schedviz.sessions.commands.limits import validate_config
from schedviz.sessions.commands.stored_form import canonical
from schedviz.sessions.errors import CommandRefused, Fenced
from schedviz.sessions.history import checkpoints, timeline
from schedviz.sessions.hosting import lease
from schedviz.sessions.hosting.checkpoint_saver import saved_engine
from schedviz.sessions.hosting.interruptible import Interrupted, Interruptible
from schedviz.sessions.hosting.lease import LEASE_RENEWER, Lease
from schedviz.sessions.hosting.slice_commit import Position
from schedviz.sessions.hosting.watchdog import INTERPRETER_LOCK_SECONDS
from schedviz.sessions.hosting.worker_loop import MAX_WORKER_CRASHES
from schedviz.sessions.metrics import stored_metrics
from schedviz.sessions.models import Checkpoint, Command, Session, Upload
from schedviz.sessions.quotas import QuotaReached
from schedviz.sessions.redis import stream, wakeups
from schedviz.sessions.transfer.workload_limits import validate_workloads
from schedviz.sessions.uploads import upload_keys
from schedviz.sessions.uploads.stored_files import StoredFiles
from schedviz.trace.commands import AnyCommand, encode_command
from schedviz.trace.config_credentials import without_credentials
from schedviz.trace.phrase import as_sentence
from schedviz.trace.releases import DEFAULT_RELEASE
from schedviz.trace.tally import levels_of

logger = logging.getLogger(__name__)

#: How often progress is stored and a cancellation is checked for.
_PROGRESS_SECONDS = 0.25
_COMMANDS_IN_A_TRANSACTION = 500
#: An archive may be this many times as large as the files that are read from it: a must-gather consists mostly of logs.
_MAX_ARCHIVE_RATIO = 16
#: The longest stored message, in characters.
_MAX_MESSAGE_LENGTH = 8_000
#: With any of these settings, the nodes' kubelet versions do not select the release. Policies and gates belong to a release.
_SETTINGS_THAT_SELECT_RELEASE = frozenset({"release", "feature_gates", "policies"})
#: The prefix of the keys of a trace's steps.
_STEP_KEY = "trace-step-"


class Importer:
    """The import of one session, until it is ready or has failed with a message for users."""

    def __init__(self, own_lease: Lease, session: Session, files: StoredFiles | None = None) -> None:
        self.lease = own_lease
        self.session = session
        self.files = files or StoredFiles(session.pk)
        self._reported_at = 0.0
        self._cancelled = False
        #: The settings, completed from the files.
        self._settings: dict[str, Any] | None = None

    def run(self) -> None:
        if self.session.acquisitions > MAX_WORKER_CRASHES:
            self.fail(
                f"The import was given up, because {MAX_WORKER_CRASHES} worker processes in a row ended during it. Either a step took over "
                f"{INTERPRETER_LOCK_SECONDS:g} s, which is the limit, or the processes ran out of memory. "
                "Import fewer or smaller files; the log of the io workers has the reason."
            )
            return
        try:
            with Interruptible() as interruptible:
                LEASE_RENEWER.hold(self.lease, on_end=interruptible.interrupt)
                report = self.make()
        except ImportCancelled:
            self.fail("The import was cancelled.")
        except Interrupted:
            # It may have been interrupted in a query.
            connection.close()
            # Raises `Fenced` if the session was deleted or has another owner.
            self.fail("The import was cancelled.")
        except IngestError as error:
            self.fail(str(error))
        except SoftTimeLimitExceeded:
            self.fail(f"The import took longer than {settings.IMPORT_SECONDS} s, which IMPORT_SECONDS allows.")
        except MemoryError:
            self.fail(f"The import needs more than {settings.IMPORT_MEGABYTES} MB of memory, which IMPORT_MEGABYTES allows.")
        except (Fenced, DatabaseError):
            raise
        except Exception as error:
            logger.exception("the import of session %s failed", self.session.pk)
            self.fail(f"The import failed inside schedviz ({type(error).__name__}). The server's log has the details.")
        else:
            self.open(report)

    # --- Phases

    def make(self) -> dict[str, Any]:
        """Make the first checkpoint and the first commands; returns the report."""
        imported = self.read()
        simulation = self.load_engine(imported)
        self.save(simulation)
        self.queue_steps(imported.trace)
        chosen = None if self.takes_release_of(imported) else simulation.settings.release
        report: dict[str, Any] = msgspec.to_builtins(with_release(imported.report, chosen, imported.evidence))
        if "lesson" in self.session.source:
            # In a lesson, a cluster without pods is intended.
            return {**report, "warnings": [], "warningPhrases": []}
        examinations = self.examine(imported, simulation.settings)
        doctor = [examination for cut in examinations if (examination := cut_examination(cut)) is not None]
        if not doctor:
            return report
        # The page shows warnings only; `doctor` has the full findings.
        differences = differences_in_words(examinations)
        return {
            **report,
            "doctor": doctor,
            "warnings": [*report["warnings"], *(as_sentence(difference.text) for difference in differences)],
            "warningPhrases": [*report["warningPhrases"], *msgspec.to_builtins(differences)],
        }

    def examine(self, imported: Import, chosen: SimulationSettings) -> list[Examination]:
        """The doctor's findings: how dumps in logs differ from the objects, and what is wrong with the objects alone."""
        if imported.trace is not None or not imported.report.files:
            return []
        return examine_import(imported, release=chosen.release, feature_gates=chosen.feature_gates)

    def read(self) -> Import:
        """Read the objects or the trace."""
        source: dict[str, Any] = self.session.source
        if "generate" in source:
            return self.generate(source["generate"])
        limits = Limits(
            unpacked_bytes=settings.IMPORT_UNPACKED_BYTES,
            archive_bytes=_MAX_ARCHIVE_RATIO * settings.IMPORT_UNPACKED_BYTES,
            files=settings.UPLOAD_FILES,
            objects=settings.IMPORT_OBJECTS,
        )
        return load(self.files.sources(), limits, progress=self.report_progress, cancelled=self.is_cancelled)

    def generate(self, parameters: dict[str, Any]) -> Import:
        """Generate a cluster."""
        spec = parse_generate_spec(parameters)
        for member, limit in (("nodes", settings.GENERATE_NODES), ("pods", settings.GENERATE_PODS)):
            if (getattr(spec, member) or 0) > limit:
                raise IngestError(f"generate.{member}: is {getattr(spec, member)}; GENERATE_{member.upper()} allows {limit}.")
        self.report_progress(Progress("generating", 0, None, unit="objects"), now=True)
        objects = tuple(generate(spec))
        return Import(objects=objects, report=Report(kinds=dict(Counter(type(obj).__name__ for obj in objects))))

    def load_engine(self, imported: Import) -> Simulation:
        """Create an engine with the objects."""
        self.report_progress(Progress("loading", 0, len(imported.objects), unit="objects"), now=True)
        self.require_cluster_quota(imported.objects)
        chosen = {**RULES_OF_NEW_SESSIONS, **self.session.settings}
        if self.takes_release_of(imported):
            chosen["release"] = imported.evidence.suggested
            chosen["feature_gates"] = imported.evidence.suggested_gates
        elif imported.trace is None and not _SETTINGS_THAT_SELECT_RELEASE & self.session.settings.keys():
            chosen["release"] = self.session.source.get("releaseWithoutVersion", DEFAULT_RELEASE)
        if imported.trace is not None:
            chosen = {**trace_settings(imported.trace), **chosen}
        if imported.config is not None:
            if chosen.get("config") is not None:
                raise IngestError(
                    f"settings.config: {imported.report.configuration} also contains a scheduler configuration. Remove one of them."
                )
            chosen["config"] = imported.config
        if "config" in chosen:
            chosen["config"] = without_credentials(chosen["config"])
        try:
            validate_config(chosen.get("config"))
            simulation = Simulation(msgspec.convert(chosen, SimulationSettings))
        except (ValueError, CommandRefused) as error:
            raise IngestError(f"{imported.report.configuration or 'settings'}: {error}") from error
        self._settings = msgspec.to_builtins(chosen)
        simulation.load(imported.objects)
        if self.is_cancelled():
            raise ImportCancelled
        return simulation

    def takes_release_of(self, imported: Import) -> bool:
        """Whether the files select the release, because no setting does."""
        return imported.evidence.is_conclusive and not _SETTINGS_THAT_SELECT_RELEASE & self.session.settings.keys()

    def require_cluster_quota(self, objects: Collection[KubeObject], *, cycles: int = 0) -> None:
        """Refuse a cluster that exceeds a quota, and workloads with too many replicas."""
        validate_workloads(objects)
        kinds = Counter(type(obj).__name__ for obj in objects)
        # A pod in a file may belong to a workload in the file, and a Deployment's ReplicaSet may be in the file as well.
        of_workloads = (sum(max(0, obj.replicas) for obj in objects if isinstance(obj, kind)) for kind in (Deployment, ReplicaSet))
        pods = max(kinds["Pod"], *of_workloads)
        quotas.clear_cache()
        # The controllers create the pods of workloads that are not in the files.
        created = max(0, pods - kinds["Pod"])
        # To weigh a large cluster takes a second.
        weight = sum(map(weight_of, objects)) if quotas.is_limited(self.session.owner_id, "objects") else len(objects)
        self.require_quota(nodes=kinds["Node"], pods=pods, objects=weight + created, cycles=cycles, bytes=1)

    def require_quota(self, **more: int) -> None:
        """As `quotas.require_quota`, for the owner. Raises `IngestError`."""
        if "bytes" in more:
            # The files are deleted when the import ends.
            more["bytes"] -= self.files.stored_bytes
        try:
            quotas.require_quota(self.session.owner_id, **more)
        except QuotaReached as reached:
            raise IngestError(str(reached)) from reached

    def save(self, simulation: Simulation) -> None:
        """Save the first checkpoint, tally and metrics, and the numbers of objects that the session begins with."""
        self.report_progress(Progress("saving", 0, None, unit=""), now=True)
        position = Position.before_commands(simulation)
        self.save_checkpoint(simulation, position)
        levels = levels_of(simulation.scheduler.state.queue.to_view(), Counter(type(obj).__name__ for obj in simulation.stored_objects()))
        timeline.store_initial(self.session.pk, levels, event=position.event, clock_seconds=position.clock_seconds)
        stored_metrics.store_initial(self.session.pk, simulation)
        lease.require_update(self.lease, nodes=levels.nodes, pods=levels.pods, object_count=simulation.cluster.store.total_weight())

    def save_checkpoint(self, simulation: Simulation, position: Position) -> None:
        """Save the engine between two commands. Raises `Fenced`."""
        began = time.perf_counter()
        saved = saved_engine(simulation, position, in_command=False)
        checkpoints.save(self.lease, saved, cost_seconds=time.perf_counter() - began)

    def queue_steps(self, trace: TraceFile | None) -> None:
        """Store the steps of a trace as commands, after those that arrived during the import."""
        if trace is None:
            return
        queued = Command.objects.filter(session_id=self.session.pk, key__startswith=_STEP_KEY).count()
        # An import whose worker crashed may have stored the first of them.
        bodies = [(f"{_STEP_KEY}{number}", body) for number, body in list(step_bodies(trace))[queued:]]
        quotas.clear_cache()
        created = quotas.largest_growth(step for step in trace.steps if isinstance(step, AnyCommand))
        self.require_quota(bytes=sum(quotas.command_bytes(key, body) for key, body in bodies), **created)
        for start in range(0, len(bodies), _COMMANDS_IN_A_TRANSACTION):
            some = bodies[start : start + _COMMANDS_IN_A_TRANSACTION]
            with transaction.atomic():
                # Without a pause, consecutive batches would keep the lease renewer from the database.
                size = sum(quotas.command_bytes(key, body) for key, body in some)
                grown = {"last_seq": F("last_seq") + len(some), "command_bytes": F("command_bytes") + size}
                lease.require_update(self.lease, **grown, lease_until=lease.renewed(self.lease))
                last_seq = Session.objects.values_list("last_seq", flat=True).get(pk=self.session.pk)
                first = last_seq - len(some) + 1
                Command.objects.bulk_create(
                    Command(session_id=self.session.pk, seq=first + index, key=key, body=body) for index, (key, body) in enumerate(some)
                )

    def open(self, report: dict[str, Any]) -> None:
        """Open the session for commands, unless the import was cancelled. Raises `Fenced`."""
        checkpoint = checkpoints.newest(self.session.pk)
        assert checkpoint is not None
        values = {
            "status": Session.Status.READY,
            "progress": None,
            "report": report,
            "event": checkpoint.event,
            "cycle": checkpoint.cycle,
            "clock_seconds": checkpoint.clock_seconds,
            "acquisitions": 0,
            "lease_owner": "",
            "lease_until": 0.0,
        }
        if self._settings is not None:
            values["settings"] = self._settings
        # A cancellation that was accepted a moment ago counts.
        mine = Session.objects.filter(pk=self.session.pk, epoch=self.lease.epoch, cancel_requested=False)
        if not mine.update(**values):
            self.fail("The import was cancelled.")
            return
        self.clean_up()
        self.session.refresh_from_db()
        self.announce()
        # Wake an engine worker even without a command, so that the engine is loaded when the first command arrives.
        wakeups.notify(self.session.pk, owned=False)

    def fail(self, message: str) -> None:
        logger.info("the import of session %s failed: %s", self.session.pk, message)
        if len(message) > _MAX_MESSAGE_LENGTH:
            # Every list of sessions contains the message, so its length is limited.
            message = f"{message[:_MAX_MESSAGE_LENGTH]}… ({len(message):,} characters)"
        values = {"status": Session.Status.FAILED, "message": message, "progress": None, "lease_owner": "", "lease_until": 0.0}
        lease.require_update(self.lease, **values)
        # The sweeper deletes failed sessions without a checkpoint: those with one were ready once.
        Checkpoint.objects.filter(session_id=self.session.pk).delete()
        self.clean_up()
        self.session.refresh_from_db()
        self.announce()

    def clean_up(self) -> None:
        Upload.objects.filter(session_id=self.session.pk).delete()
        upload_keys.delete_key(self.session.pk)

    # --- Progress

    def report_progress(self, progress: Progress, *, now: bool = False) -> None:
        """Report the import's progress, at limited frequency. Raises `Fenced`."""
        if not now and time.monotonic() - self._reported_at < _PROGRESS_SECONDS:
            return
        self._reported_at = time.monotonic()
        progress_json = {"phase": progress.phase, "done": progress.done, "total": progress.total, "unit": progress.unit}
        if progress.file:
            progress_json["file"] = progress.file
        lease.require_update(self.lease, progress=progress_json, lease_until=lease.renewed(self.lease))
        self._cancelled = Session.objects.filter(pk=self.session.pk, cancel_requested=True).exists()
        self.session.progress = progress_json
        self.announce()

    def is_cancelled(self) -> bool:
        return self._cancelled

    def announce(self) -> None:
        stream.publish(self.session.pk, [], [frames.status(frames.session_state(self.session))])


def trace_settings(trace: TraceFile) -> dict[str, Any]:
    """The members of SimulationSettings that a trace sets."""
    return {
        "config": trace.config,
        "assumed_pod_ttl_seconds": trace.assumed_pod_ttl_seconds,
        "pod_max_in_unschedulable_seconds": trace.pod_max_in_unschedulable_seconds,
        "tick_millis": trace.tick_millis,
        "graceful_victims": graceful_victims(asked=trace.graceful_victims),
        "fake_extenders": list(trace.fake_extenders),
        "policies": msgspec.to_builtins(trace.policies),
        "release": trace.release,
        "feature_gates": trace.feature_gates,
        "hold_preemption": trace.hold_preemption,
        "hold_dispatch": trace.hold_dispatch,
        "first_of_heap": trace.tie_break == "first",
    }


def step_bodies(trace: TraceFile) -> Iterator[tuple[int, bytes]]:
    """The steps as stored commands, with their numbers in the file from 1. `dump`, which only a file can contain, is skipped."""
    for number, step in enumerate(trace.steps, start=1):
        if not isinstance(step, AnyCommand):
            continue
        try:
            yield number, encode_command(canonical(step))
        except CommandRefused as error:
            raise IngestError(str(error.inside(f"steps[{number - 1}]"))) from error
