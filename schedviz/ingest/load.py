"""Loads files: decompresses each, passes it to the reader of its format, decodes and defaults the objects, merges them and counts them.

Parts of a file that cannot be read are skipped and named, and the rest is kept. A file of which nothing can be read is left out and
reported, and the others are imported. If it is the only file, the import is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

import msgspec

from schedviz.engine.config import ConfigurationError, load_configuration
from schedviz.ingest.bad_parts import BadParts
from schedviz.ingest.configuration.config_text import ConfigText
from schedviz.ingest.errors import (
    BadObjects,
    ImportCancelled,
    IngestError,
    LimitExceeded,
    NoObjects,
    Problem,
    UnknownFormat,
    UnreadableFile,
)
from schedviz.ingest.file_contents import FileContents, MergedFiles
from schedviz.ingest.files.archive import Member, is_tar, is_zip, tar_members, zip_members
from schedviz.ingest.files.budget import Budget, BudgetExhausted
from schedviz.ingest.files.source import Source, shown_name
from schedviz.ingest.files.unpack import text_pieces, unpacked
from schedviz.ingest.item_collector import CONFIGURATION, ItemCollector
from schedviz.ingest.kubectl.cluster_info import ClusterInfoReader
from schedviz.ingest.kubectl.tables_and_descriptions import FAILURE, KubectlTextReader, without_terminal, without_warnings
from schedviz.ingest.limits import Limits
from schedviz.ingest.logs.log_reader import LogReader
from schedviz.ingest.logs.logged_gates import gates_of
from schedviz.ingest.logs.objects_from_dump import WARNING, objects_of
from schedviz.ingest.logs.scheduler_log import SchedulerLog
from schedviz.ingest.manifests import json_stream, yaml_stream
from schedviz.ingest.manifests.embedded_objects import EmbeddedObjectsReader
from schedviz.ingest.manifests.json_dump import JsonReader
from schedviz.ingest.manifests.json_stream import NotCutError
from schedviz.ingest.manifests.yaml_dump import YamlReader
from schedviz.ingest.nothing_found import EXPECTED, nothing_found
from schedviz.ingest.object_events import ObjectEvent
from schedviz.ingest.pasted.copied_text import CopiedText
from schedviz.ingest.pasted.pasted_text import messages_in
from schedviz.ingest.progress import Progress, ProgressReporter
from schedviz.ingest.reader import Item, Reader
from schedviz.ingest.refusals import MAX_LISTED, Refusals, forget
from schedviz.ingest.release_evidence import ReleaseEvidence, newer_words, newest
from schedviz.ingest.report import Refused, Report
from schedviz.ingest.scheduler_messages import PodMessage
from schedviz.ingest.simulators.kwok import KwokReader
from schedviz.ingest.simulators.openb import OpenbReader
from schedviz.ingest.simulators.simkube import FORMAT as SIMKUBE
from schedviz.ingest.simulators.simkube import looks_like_simkube, read_simkube
from schedviz.ingest.simulators.simulator import SimulatorReader
from schedviz.ingest.trace_file import FORMAT as TRACE
from schedviz.ingest.trace_file import TraceFile, looks_like_trace, trace_of
from schedviz.ingest.warnings import missing_pods, warnings_of, with_last_message
from schedviz.kube.errors import DecodeError
from schedviz.kube.gc_tuning import without_gc
from schedviz.kube.kinds import KINDS
from schedviz.kube.meta import KubeObject
from schedviz.trace.phrase import Phrase, phrase
from schedviz.trace.releases import RELEASES

#: Reads objects among other text.
_EMBEDDED: Final = EmbeddedObjectsReader()
#: The readers, in order. The first that recognises a text reads it.
READERS: tuple[Reader, ...] = (
    LogReader(),
    ClusterInfoReader(),
    _EMBEDDED,
    KubectlTextReader(),
    SimulatorReader(),
    KwokReader(),
    OpenbReader(),
    JsonReader(),
    YamlReader(),
)

#: Longer texts in no known format are not searched for objects and messages.
_MAX_PROSE_LENGTH = 4_000_000
#: Progress is reported and a cancellation looked for once per this many objects.
_OBJECTS_PER_REPORT = 256
#: The deepest nesting of archives in archives.
_MAX_ARCHIVE_DEPTH = 2
_DESCRIBED: Final = (
    "{file}: the output of kubectl describe omits affinity, topology spread constraints, and, for pods listed under a node, all "
    "requests except CPU and memory; a pod `other-pods-on-NODE` has the rest of the node's total. For complete results, import the "
    "output of `kubectl get nodes,pods,pv,pvc,sc,events -A -o json`."
)


class Import(msgspec.Struct, frozen=True):
    """The result of an import: objects, with nodes before pods, or a trace, and a report. `config` is a KubeSchedulerConfiguration among
    them.

    A recording gives both: objects, and a trace of the changes after them.
    """

    objects: tuple[KubeObject, ...] = ()
    report: Report = Report()
    trace: TraceFile | None = None
    config: dict[str, Any] | None = None
    #: Logs of kube-scheduler, with the dumps in them.
    logs: tuple[SchedulerLog, ...] = ()
    #: The latest message about each pod that did not fit.
    messages: tuple[PodMessage, ...] = ()
    #: Events about other objects and with other reasons.
    events: tuple[ObjectEvent, ...] = ()
    #: The file of each entry of `objects`.
    origins: tuple[str, ...] = ()
    #: Whether the files have no objects, so that `objects` come from a SIGUSR2 dump.
    made_of_dump: bool = False
    evidence: ReleaseEvidence = ReleaseEvidence()


def _silent(_: Progress) -> None:
    pass


def ignore_object(_item: Item, _obj: KubeObject) -> None:
    """Ignore the object."""


def _never() -> bool:
    return False


def load(
    sources: Sequence[Source],
    limits: Limits = Limits(),  # noqa: B008  (frozen)
    progress: Callable[[Progress], None] = _silent,
    cancelled: Callable[[], bool] = _never,
    on_object: Callable[[Item, KubeObject], None] = ignore_object,
) -> Import:
    """Load objects from files, ordered as in `kinds.KINDS` and then by file.

    Finished pods and kinds that the scheduler does not read are left out and counted. For duplicate objects the newer version is kept, or
    the last one. `on_object` is called with each object as it was given and as it was decoded. Raises an `IngestError` if nothing is left,
    and for an invalid scheduler configuration.
    """
    if not sources:
        raise UnreadableFile("No file was given.")
    source_count = sum(not source.is_incidental for source in sources)
    if source_count > limits.files:
        raise LimitExceeded("The import", f"there are {source_count:,} files", "files", limits.files)
    if len(sources) > limits.archive_files:
        raise LimitExceeded("The import", f"there are {len(sources):,} files in folders", "archive_files", limits.archive_files)
    with without_gc():
        return _Loading(limits, progress, cancelled, on_object).run(sources)


class _Loading:
    """The state of one import."""

    def __init__(
        self,
        limits: Limits,
        progress: Callable[[Progress], None],
        cancelled: Callable[[], bool],
        on_object: Callable[[Item, KubeObject], None],
    ) -> None:
        self.limits = limits
        self.report_progress = progress
        self.cancelled = cancelled
        self.budget = Budget(limits)
        self.merged = MergedFiles()
        self.items = ItemCollector(limits, on_object)
        self.refused = Refusals()
        #: Parts of files that are kept otherwise.
        self.skipped: list[Refused] = []
        #: Why no object of a file with messages can be read; that of the first such file.
        self.why_without_objects: IngestError | None = None
        self.warnings: list[Phrase] = []
        #: Whether the files have no objects, so that those of a SIGUSR2 dump are taken.
        self.is_made_of_dump = False

    def run(self, sources: Sequence[Source]) -> Import:
        """Read all files."""
        for source in sources:
            trace = self.read_source(msgspec.structs.replace(source, name=shown_name(source.name)), alone=len(sources) == 1)
            if trace is not None:
                return Import(report=Report(files=self.merged.reports()), trace=trace)
        return self.finish()

    # One file.

    def read_source(self, source: Source, *, alone: bool, depth: int = 0) -> TraceFile | None:
        """Read one file, or leave it out and record why; returns its trace if it is one that was given alone."""
        if self.budget.exhausted is not None:
            self.refused.add(source.name, self.budget.exhausted)
            return None
        try:
            return self.read_file(source, alone=alone, depth=depth)
        except (ImportCancelled, _BadConfiguration):
            raise
        except BudgetExhausted as error:
            if depth:
                # Skip the rest of the archive, too.
                raise
            self.refused.add(source.name, error, is_last=True)
        except UnknownFormat as error:
            if source.is_incidental:
                forget(error)
                self.merged.tally.drop("File", "its format is unknown", source.name)
            else:
                self.refused.add(source.name, error)
        except IngestError as error:
            if source.is_incidental and isinstance(error, NoObjects):
                forget(error)
                self.merged.tally.drop("File", "it contains no Kubernetes objects", source.name)
            else:
                self.refused.add(source.name, error)
        return None

    def read_file(self, source: Source, *, alone: bool, depth: int) -> TraceFile | None:
        """Read one file. An `IngestError` means that nothing of it was kept, except the valid files of an archive."""
        reporter = ProgressReporter(source, self.report_progress, self.check_cancelled, self.budget)
        raw = unpacked(source.name, reporter.pieces())
        head = next(raw, b"")
        raw = chain((head,), raw)
        if is_tar(head) or is_zip(head):
            self.read_archive(source, tar_members if is_tar(head) else zip_members, raw, depth)
            return None
        file = FileContents(source.name)
        if looks_like_simkube(head):
            self.read_simkube(file, reporter, raw)
            return None
        pieces = text_pieces(source.name, raw, on_progress=reporter)
        first = next(pieces)
        second = next(pieces, None)
        if second is not None and (json_stream.is_printed_by_kubectl(first) or yaml_stream.is_printed_by_kubectl(first)):
            reporter.is_read_at_once = True
            try:
                self.read_while_it_arrives(file, reporter, chain((first, second), pieces), is_json=json_stream.is_printed_by_kubectl(first))
            except NotCutError:
                # The error needs a line number, for which the whole text is needed.
                file = FileContents(source.name)
                self.budget.count_archive_bytes(source.name, reporter.unpacked)
                text = b"".join(text_pieces(source.name, unpacked(source.name, source.pieces()), on_progress=reporter))
                self.read_text(file, text, alone=alone)
        else:
            self.read_text(file, b"".join(chain((first,), () if second is None else (second,), pieces)), alone=alone)
        if not (file.has_contributed or file.has_nameless_messages or file.tally.dropped() or source.is_incidental):
            raise UnreadableFile(f"{file.name}: it contains nothing to import. {EXPECTED}")
        self.add_file(file)
        return file.trace

    def add_file(self, file: FileContents) -> None:
        """Add the contents of a valid file to the others."""
        if len(self.merged.objects) + len(file.objects) > self.limits.objects:
            raise LimitExceeded(file.name, "there are too many objects", "objects", self.limits.objects)
        self.take_configuration(file)
        self.why_without_objects = self.why_without_objects or file.why_without_objects
        if file.bad_parts.count:
            self.warnings.append(file.bad_parts.warning(file.name, len(file.objects)))
            self.skipped += [Refused(file.name, line) for line in file.bad_parts.lines()]
        self.merged.add_file(file)

    def read_archive(self, source: Source, members: Callable[..., Iterator[Member]], pieces: Iterator[bytes], depth: int) -> None:
        """Read the files in an archive; one invalid file does not affect the others."""
        if depth >= _MAX_ARCHIVE_DEPTH:
            raise UnreadableFile(f"{source.name}: archives are nested more than {_MAX_ARCHIVE_DEPTH} deep. Unpack the file first.")
        count = 0
        for member in members(source.name, pieces, self.limits, self.budget):
            self.check_cancelled()
            if member.left_out:
                self.merged.tally.drop("File", member.left_out, member.name)
                continue
            count += 1
            name = f"{source.name}: {member.name}"
            inner = Source(name=name, pieces=member.pieces, size=member.size, is_incidental=True, is_counted=True)
            self.read_source(inner, alone=False, depth=depth + 1)
        if not count:
            raise UnreadableFile(f"{source.name}: the archive contains nothing to import. {EXPECTED}")

    def read_simkube(self, file: FileContents, reporter: ProgressReporter, pieces: Iterator[bytes]) -> None:
        """Read a binary file."""
        data = bytearray()
        for piece in pieces:
            data += piece
            reporter(len(data))
        file.format, file.unpacked_bytes = SIMKUBE, len(data)
        for item in read_simkube(file.name, bytes(data)):
            try:
                self.items.add(file, item)
            except DecodeError as error:
                path = item.path if isinstance(item, Item) else ""
                raise BadObjects([Problem(file.name, error.message, path=error.inside(path).path)]) from None
        self.add_file(file)

    def read_text(self, file: FileContents, text: bytes, *, alone: bool) -> None:
        """Read a text that is completely in memory."""
        file.unpacked_bytes = len(text)
        if looks_like_trace(text):
            if not alone:
                raise UnreadableFile(f"{file.name}: this is a trace, which must be imported without other files.")
            file.format = TRACE
            file.trace = trace_of(file.name, text)
            return
        if failed := FAILURE.match(text):
            raise UnreadableFile(f"{file.name}: this is an error message of kubectl instead of a dump: {failed[0].decode().strip()[:200]}")
        text = without_warnings(without_terminal(text))
        reader = next((reader for reader in READERS if reader.recognises(text)), None)
        try:
            if reader is None:
                raise UnknownFormat(
                    f"{file.name}: expected JSON or YAML (`kubectl get nodes,pods,pv,pvc,sc,events -A -o json`), or text that contains a "
                    "scheduler message (`kubectl describe pod`)."
                )
            self.read_with(reader, file, text)
        except (BadObjects, UnreadableFile) as error:
            self.read_as_prose(file, text, error)
        else:
            if reader is _EMBEDDED or not (file.objects or file.messages or any(log.signals for log in file.logs)):
                self.take_messages(file, text)

    def read_as_prose(self, file: FileContents, text: bytes, error: IngestError) -> None:
        """Read the objects, or else the scheduler's messages, in a text of another form. Raises `error` if there is neither."""
        if isinstance(error, _BadConfiguration) or file.has_contributed or len(text) > _MAX_PROSE_LENGTH:
            raise error
        file.bad_parts = BadParts()
        try:
            self.read_with(_EMBEDDED, file, text)
        except IngestError:
            file.bad_parts = BadParts()
        self.take_messages(file, text)
        if not file.has_contributed and not file.has_nameless_messages:
            raise error
        file.format = _EMBEDDED.format if file.objects else "text with messages"
        if not file.objects and isinstance(error, BadObjects):
            forget(error)
            file.why_without_objects = error

    def take_messages(self, file: FileContents, text: bytes) -> None:
        """Add the scheduler's messages that a text contains."""
        if len(text) > _MAX_PROSE_LENGTH:
            return
        bound = {pod for log in file.logs for pod in log.bound}
        for message in messages_in(CopiedText(text.decode()), of_others=False):
            if message.pod:
                if message.pod not in bound:
                    file.add_message(message)
            else:
                file.has_nameless_messages = True

    def read_with(self, reader: Reader, file: FileContents, text: bytes) -> None:
        """Read a text with one reader. Raises `IngestError` if nothing can be read."""
        file.format = reader.format
        bad = file.bad_parts
        for number, item in enumerate(reader.read(file.name, text, self.limits)):
            if number % _OBJECTS_PER_REPORT == 0:
                self.check_cancelled()
                total = item.total if isinstance(item, Item) else None
                self.report_progress(Progress("reading", number, total, unit="objects", file=file.name))
            if isinstance(item, Problem):
                bad.add(item, good=len(file.objects))
                continue
            try:
                self.items.add(file, item)
            except DecodeError as error:
                assert isinstance(item, Item)
                problem = _problem(file.name, text, reader, item, error) if bad.wants_name() else None
                bad.add(problem, good=len(file.objects), error=error)
        if reader.format == KubectlTextReader.format and file.objects:
            file.warnings.append(phrase(_DESCRIBED, file=file.name))
        if bad.count and not file.has_contributed:
            raise bad.error() if b"kind" in text else NoObjects(bad.named)

    def read_while_it_arrives(self, file: FileContents, reporter: ProgressReporter, pieces: Iterator[bytes], *, is_json: bool) -> None:
        """Read a list in kubectl's layout while it is decompressed. Raises `NotCutError`."""
        number = 0
        items: Iterator[list[Any]]
        if is_json:
            items = json_stream.cut_items(pieces, nesting_depth=self.limits.nesting_depth)
        else:
            items = yaml_stream.cut_items(file.name, pieces, self.limits)
        for contents in items:
            for content in contents:
                if number % _OBJECTS_PER_REPORT == 0:
                    self.check_cancelled()
                try:
                    self.items.add(file, Item(document=1, path=f"items[{number}]", content=content))
                except DecodeError:
                    raise NotCutError from None
                number += 1
        file.format, file.unpacked_bytes = JsonReader.format if is_json else YamlReader.format, reporter.unpacked

    def check_cancelled(self) -> None:
        if self.cancelled():
            raise ImportCancelled

    # All files.

    def take_configuration(self, file: FileContents) -> None:
        """Keep the configuration of a file. Raises an error if it is invalid or the second one, or if the file is a second recording."""
        if file.steps is not None and self.merged.steps is not None:
            raise UnreadableFile(f"{file.name}: there is already another recording. Import one recording at a time.")
        for parsed in file.configs:
            if self.merged.config is not None:
                message = f"{self.merged.config[0]} also contains a {CONFIGURATION}. Remove one of them."
                raise _BadConfiguration([Problem(file.name, message)])
            self.merged.config = (file.name, parsed.document)
            self.merged.config_releases = self.releases_that_accept(file, parsed)

    def releases_that_accept(self, file: FileContents, parsed: ConfigText) -> tuple[str, ...]:
        """The releases for which the configuration is valid. Raises the error of the likely release if there is none."""
        errors: dict[str, ConfigurationError] = {}
        for release in RELEASES:
            try:
                load_configuration(parsed.document, duplicates=parsed.duplicates, release=release)
            except ConfigurationError as error:
                errors[release] = error
        if len(errors) == len(RELEASES):
            likely = ReleaseEvidence(newest(self.merged.kubelet_version, file.kubelet_version)).suggested
            raise _BadConfiguration([Problem(file.name, str(errors[likely]))])
        return tuple(release for release in RELEASES if release not in errors)

    def finish(self) -> Import:
        merged = self.merged
        evidence = self.evidence()
        if not merged.objects:
            self.make_objects_of_dumps()
        if not merged.objects:
            raise nothing_found(merged, self.refused, self.why_without_objects)
        order = {kind.type: number for number, kind in enumerate(KINDS)}
        keys = sorted(merged.objects, key=lambda key: order[key[0]])
        objects = tuple(with_last_message(merged.objects[key], merged.messages) for key in keys)
        config = merged.config[1] if merged.config else None
        report = self.report(objects)
        self.report_progress(Progress("done", len(objects), len(objects), unit="objects"))
        return Import(
            objects=objects,
            report=report,
            trace=None if merged.steps is None else TraceFile(steps=merged.steps.steps, config=config, release=evidence.suggested),
            config=config if merged.steps is None else None,
            logs=tuple(merged.logs),
            messages=tuple(merged.messages.values()),
            events=tuple(merged.events.values()),
            origins=tuple(merged.origins[key] for key in keys),
            made_of_dump=self.is_made_of_dump,
            evidence=evidence,
        )

    def evidence(self) -> ReleaseEvidence:
        """What the files say of the release. Called before objects are made of a dump."""
        merged = self.merged
        return ReleaseEvidence(
            merged.kubelet_version,
            merged.config_releases,
            merged.scheduler_version,
            merged.newer_field,
            newer_words(message.message for message in merged.messages.values()),
            gates_of(merged.feature_gates, merged.objects.values()),
            bool(merged.feature_gates),
        )

    def report(self, objects: Sequence[KubeObject]) -> Report:
        merged = self.merged
        kinds = Counter(type(obj).__name__ for obj in objects)
        missing = missing_pods(merged.messages.values(), objects, set(merged.origins.values()))
        warnings = (*missing, *self.warnings, *merged.all_warnings(), *warnings_of(objects, kinds), *self.refused.warnings())
        return Report(
            files=merged.reports(),
            kinds=dict(kinds),
            dropped=merged.tally.dropped(),
            warnings=tuple(warning.text for warning in warnings),
            warning_phrases=warnings,
            configuration=merged.config[0] if merged.config else "",
            refused=tuple(self.refused.listed),
            skipped=tuple(self.skipped[:MAX_LISTED]),
        )

    def make_objects_of_dumps(self) -> None:
        """Create objects from the last dump if the files have none."""
        log = next((log for log in reversed(self.merged.logs) if log.signals), None)
        if log is None:
            return
        for obj in objects_of(log.signals[-1].dump):
            self.merged.objects[type(obj), obj.key] = obj
            self.merged.origins[type(obj), obj.key] = log.name
        self.is_made_of_dump = True
        self.warnings.append(WARNING)


class _BadConfiguration(BadObjects):
    """The scheduler's configuration is invalid. The import ends, because another configuration would give other results."""


def _problem(name: str, text: bytes, reader: Reader, item: Item, error: DecodeError) -> Problem:
    error = error.inside(item.path)
    line = reader.line_of(text, item.document, error.path)
    document = item.document if reader.documents(text) > 1 else 0
    return Problem(name, error.message, document=document, line=line, path=error.path)


__all__ = ["Import", "IngestError", "Progress", "load"]
