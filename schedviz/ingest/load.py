"""Files into objects: each is unpacked, given to the reader that knows its format, decoded, defaulted and counted."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

import msgspec

from schedviz.engine.config import ConfigurationError, load_configuration
from schedviz.ingest.config_text import ConfigText, parse_config
from schedviz.ingest.errors import BadObjects, ImportCancelled, IngestError, LimitExceeded, Problem, UnreadableFile
from schedviz.ingest.json_dump import JsonReader
from schedviz.ingest.json_stream import NotCutError, cut_items, is_printed_by_kubectl
from schedviz.ingest.limits import Limits
from schedviz.ingest.reader import Item, Reader
from schedviz.ingest.report import FileReport, Report, Tally
from schedviz.ingest.source import Source
from schedviz.ingest.trace_file import TraceFile, looks_like_trace, trace_of
from schedviz.ingest.unpack import text_pieces
from schedviz.ingest.yaml_dump import YamlReader
from schedviz.kube.core import Node, Pod
from schedviz.kube.defaults import default_object
from schedviz.kube.errors import DecodeError, UnknownKindError
from schedviz.kube.kinds import KINDS
from schedviz.kube.meta import KubeObject

READERS: tuple[Reader, ...] = (JsonReader(), YamlReader())

#: So many bad objects are told before an import gives up.
_PROBLEMS = 5
#: Progress is told, and a cancel looked for, once in so many objects.
_EVERY = 256
_TERMINAL = frozenset({"Succeeded", "Failed"})
CONFIGURATION = "KubeSchedulerConfiguration"
_NOT_READ = "the scheduler does not read this kind"
_KUBECONFIG = (
    "this is a kubeconfig. It holds credentials and can run commands, so it is never read; "
    "import what `kubectl get nodes,pods -A -o json` prints instead."
)


class Progress(msgspec.Struct, frozen=True, rename="camel"):
    """How far an import is. `total` is None where it is not known."""

    phase: str
    done: int
    total: int | None = None
    unit: str = "bytes"
    file: str = ""


class Import(msgspec.Struct, frozen=True):
    """What an import gave: objects, nodes before pods, or a trace, and a report. `config` is a KubeSchedulerConfiguration among them."""

    objects: tuple[KubeObject, ...] = ()
    report: Report = Report()
    trace: TraceFile | None = None
    config: dict[str, Any] | None = None


def _silent(_: Progress) -> None:
    pass


def _never() -> bool:
    return False


def load(
    sources: Sequence[Source],
    limits: Limits = Limits(),  # noqa: B008  (frozen)
    progress: Callable[[Progress], None] = _silent,
    cancelled: Callable[[], bool] = _never,
) -> Import:
    """The objects in some files, ready for the engine: kinds in the order of `kinds.KINDS`, each in the order of the files.

    Finished pods and kinds that the scheduler does not read are left out and counted. Of an object that is given twice the last is
    kept. Raises an `IngestError`.
    """
    if not sources:
        raise UnreadableFile("No file was given.")
    if len(sources) > limits.files:
        raise LimitExceeded("The import", f"there are {len(sources):,} files", "files", limits.files)
    with _without_gc():
        try:
            return _Loading(limits, progress, cancelled, cuts=True).run(sources)
        except NotCutError:
            # What is wrong is told by its line, and for that the whole text is needed.
            return _Loading(limits, progress, cancelled, cuts=False).run(sources)


class Told:
    """Tells how much of one file has arrived: while it is unpacked, or, where it is read at once, of how much."""

    def __init__(self, source: Source, tell: Callable[[Progress], None], check_cancelled: Callable[[], None]) -> None:
        self._source = source
        self._tell = tell
        self._check_cancelled = check_cancelled
        self._arrived = 0
        self.unpacked = 0
        self.is_read_at_once = False

    def pieces(self) -> Iterator[bytes]:
        """The file's bytes as they are."""
        for piece in self._source.pieces():
            self._arrived += len(piece)
            yield piece

    def __call__(self, unpacked: int) -> None:
        """So much of it is unpacked."""
        self.unpacked = unpacked
        self._check_cancelled()
        if self.is_read_at_once:
            self._tell(Progress("reading", self._arrived, self._source.size, file=self._source.name))
        else:
            self._tell(Progress("unpacking", unpacked, file=self._source.name))


class _Loading:
    """One import under way."""

    def __init__(self, limits: Limits, progress: Callable[[Progress], None], cancelled: Callable[[], bool], *, cuts: bool) -> None:
        self.limits = limits
        #: Lists that kubectl printed are cut into objects while they arrive.
        self.cuts = cuts
        self.tell = progress
        self.cancelled = cancelled
        self.room = limits.unpacked_bytes
        self.objects: dict[tuple[type, str], KubeObject] = {}
        self.files: list[FileReport] = []
        self.tally = Tally()
        self.problems: list[Problem] = []
        #: A KubeSchedulerConfiguration, and the file that it was in.
        self.config: tuple[str, dict[str, Any]] | None = None

    def run(self, sources: Sequence[Source]) -> Import:
        for source in sources:
            trace = self.read_file(source, alone=len(sources) == 1)
            if trace is not None:
                return Import(report=Report(files=tuple(self.files)), trace=trace)
        if self.problems:
            raise BadObjects(self.problems)
        return self.finish()

    def read_file(self, source: Source, *, alone: bool) -> TraceFile | None:
        """Read one file; its trace, if it is one."""
        told = Told(source, self.tell, self.check_cancelled)
        pieces = text_pieces(source.name, told.pieces(), limit=self.limits.unpacked_bytes, room=self.room, tell=told)
        head = next(pieces)
        second = next(pieces, None)
        if second is not None:
            pieces = chain((head, second), pieces)
            if self.cuts and is_printed_by_kubectl(head):
                told.is_read_at_once = True
                self.read_while_it_arrives(source, told, pieces)
                return None
        else:
            pieces = iter((head,))
        text = b"".join(pieces)
        self.room -= len(text)
        if looks_like_trace(text):
            if not alone:
                raise UnreadableFile(f"{source.name}: this is a trace, which is imported alone and without other files.")
            self.files.append(FileReport(source.name, "schedviz-trace/1", len(text), 0))
            return trace_of(source.name, text)
        reader = next((reader for reader in READERS if reader.recognises(text)), None)
        if reader is None:
            raise UnreadableFile(f"{source.name}: expected JSON or YAML, as `kubectl get nodes,pods -A -o json` prints it.")
        before = len(self.objects)
        for number, item in enumerate(reader.read(source.name, text, self.limits)):
            if number % _EVERY == 0:
                self.check_cancelled()
                self.tell(Progress("reading", number, item.total, unit="objects", file=source.name))
            self.take(source.name, (text, reader), item)
        self.files.append(FileReport(source.name, reader.format, len(text), len(self.objects) - before))
        return None

    def read_while_it_arrives(self, source: Source, told: Told, pieces: Iterator[bytes]) -> None:
        """Read a list that kubectl printed. Raises `NotCutError`."""
        before, number = len(self.objects), 0
        for contents in cut_items(pieces, nesting_depth=self.limits.nesting_depth):
            for content in contents:
                if number % _EVERY == 0:
                    self.check_cancelled()
                self.take(source.name, None, Item(document=1, path=f"items[{number}]", content=content))
                number += 1
        self.room -= told.unpacked
        self.files.append(FileReport(source.name, JsonReader.format, told.unpacked, len(self.objects) - before))

    def check_cancelled(self) -> None:
        if self.cancelled():
            raise ImportCancelled

    def take(self, name: str, whole: tuple[bytes, Reader] | None, item: Item) -> None:
        """Keep, drop or complain about one object of a text; None: there is none to complain about by lines. Raises `NotCutError` then."""
        try:
            obj = default_object(item.decode())
        except UnknownKindError as error:
            if error.path == "kind" and error.found == CONFIGURATION:
                self.take_configuration(name, item)
            else:
                self.drop_unknown(name, error)
            return
        except DecodeError as error:
            if whole is None:
                raise NotCutError from None
            self.complain(name, *whole, item, error)
            return
        key = (type(obj), obj.key)
        kind = type(obj).__name__
        if isinstance(obj, Pod) and obj.status.phase in _TERMINAL:
            self.tally.drop(kind, f"the pod has finished ({obj.status.phase})", obj.key)
            return
        if self.objects.pop(key, None) is not None:
            self.tally.drop(kind, "it was given again; the last one was kept", obj.key)
        self.objects[key] = obj
        if len(self.objects) > self.limits.objects:
            raise LimitExceeded(name, "there are too many objects", "objects", self.limits.objects)

    def take_configuration(self, name: str, item: Item) -> None:
        """Keep what the scheduler is to work with, or say what is wrong with it."""
        content = item.content
        parsed = ConfigText(content) if isinstance(content, dict) else parse_config(bytes(content).decode())
        message = ""
        if self.config is not None:
            message = f"there is a {CONFIGURATION} in {self.config[0]}, too; a session has one."
        else:
            try:
                load_configuration(parsed.document, duplicates=parsed.duplicates)
            except ConfigurationError as error:
                message = str(error)
        if message:
            self.problems.append(Problem(name, message, path=item.path))
        else:
            self.config = (name, parsed.document)

    def drop_unknown(self, name: str, error: UnknownKindError) -> None:
        if error.path == "kind" and error.found == "Config":
            raise UnreadableFile(f"{name}: {_KUBECONFIG}")
        if error.path == "kind" and error.found == "Status":
            raise UnreadableFile(f"{name}: this is an answer of kind Status, an API server's error, and not a dump.")
        if error.path == "kind":
            self.tally.drop(error.found, _NOT_READ)
        else:
            self.tally.drop(error.expected.rpartition(" ")[2], str(error))

    def complain(self, name: str, text: bytes, reader: Reader, item: Item, error: DecodeError) -> None:
        error = error.inside(item.path)
        line = reader.line_of(text, item.document, error.path)
        document = item.document if reader.documents(text) > 1 else 0
        self.problems.append(Problem(name, error.message, document=document, line=line, path=error.path))
        if len(self.problems) >= _PROBLEMS:
            raise BadObjects(self.problems, more=True)

    def finish(self) -> Import:
        order = {kind.type: number for number, kind in enumerate(KINDS)}
        objects = tuple(sorted(self.objects.values(), key=lambda obj: order[type(obj)]))
        kinds = Counter(type(obj).__name__ for obj in objects)
        report = Report(
            files=tuple(self.files),
            kinds=dict(kinds),
            dropped=self.tally.dropped(),
            warnings=tuple(_warnings(objects, kinds)),
            configuration=self.config[0] if self.config else "",
        )
        if not objects:
            left_out = "; ".join(f"{drop.count} × {drop.kind}: {drop.reason}" for drop in report.dropped)
            raise UnreadableFile(
                f"{self.files[0].name}: nothing in it is of use{f' ({left_out})' if left_out else ''}. Expected nodes and pods, as "
                "`kubectl get nodes,pods -A -o json` prints them."
            )
        self.tell(Progress("done", len(objects), len(objects), unit="objects"))
        return Import(objects=objects, report=report, config=self.config[1] if self.config else None)


def _warnings(objects: Sequence[KubeObject], kinds: Counter[str]) -> Iterator[str]:
    if not kinds["Node"]:
        yield "There is no node, so no pod can be scheduled; `kubectl get nodes,pods -A -o json` has both."
    if not kinds["Pod"]:
        yield "There is no pod, so there is nothing to schedule; `kubectl get nodes,pods -A -o json` has both."
    nodes = {obj.name for obj in objects if isinstance(obj, Node)}
    strays = [pod for pod in objects if isinstance(pod, Pod) and pod.spec.node_name and pod.spec.node_name not in nodes]
    if strays and nodes:
        missing = sorted({pod.spec.node_name for pod in strays})
        shown = ", ".join(missing[:3]) + (", …" if len(missing) > 3 else "")
        yield f"{len(strays)} of the pods are bound to nodes that are not in the files ({shown}); the cache shows these nodes as gone."


@contextmanager
def _without_gc() -> Iterator[None]:
    """Without the cyclic collector: an import makes many objects and no cycles, and looking for them takes longer than decoding."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


__all__ = ["Import", "IngestError", "Progress", "load"]
