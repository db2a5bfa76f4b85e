"""Adds the items of a file to its contents: decodes and defaults objects, and keeps or drops what is not an object of the scheduler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from schedviz.ingest.configuration.config_text import ConfigText, parse_config
from schedviz.ingest.errors import BadObjects, LimitExceeded, Problem, UnreadableFile
from schedviz.ingest.events import KIND as EVENT
from schedviz.ingest.events import is_of_karpenter, message_in_event
from schedviz.ingest.file_contents import MAX_EVENTS, FileContents, RecordedSteps
from schedviz.ingest.limits import Limits
from schedviz.ingest.logs.scheduler_log import SchedulerLog
from schedviz.ingest.manifests.kind_by_shape import is_kubeconfig, with_kind
from schedviz.ingest.object_events import event_about
from schedviz.ingest.reader import Item
from schedviz.ingest.release_evidence import kubelet_version, newer_field, newest
from schedviz.ingest.scheduler_messages import PodMessage
from schedviz.ingest.simulators.simulator import results_of
from schedviz.kube.core import Node, Pod
from schedviz.kube.defaults import default_object
from schedviz.kube.errors import DecodeError, UnknownKindError
from schedviz.kube.meta import KubeObject
from schedviz.kube.object_names import validate_possible_names
from schedviz.kube.pod_texts import PodTexts
from schedviz.kube.sharing import Sharing
from schedviz.trace.phrase import phrase

CONFIGURATION: Final = "KubeSchedulerConfiguration"
_NOT_READ: Final = "the scheduler does not read this kind"
_UNREAD_EVENT: Final = "it is not a warning, and does not say why a pod or another object waits"
_KUBECONFIG: Final = (
    "this is a kubeconfig. It holds credentials and can run commands, so it is never read; "
    "import what `kubectl get nodes,pods,pv,pvc,sc,events -A -o json` prints instead."
)


class ItemCollector:
    """Adds items to the contents of files. Equal parts of the objects of all files are shared."""

    def __init__(self, limits: Limits, on_object: Callable[[Item, KubeObject], None]) -> None:
        """`on_object` is called with each object as it was given and as it was decoded."""
        self._limits = limits
        self._on_object = on_object
        self._sharing = Sharing()
        self._pods = PodTexts(self._sharing)

    def add(self, file: FileContents, item: Item | SchedulerLog | PodMessage | RecordedSteps) -> None:
        """Keep or drop one item. Raises `DecodeError` for an invalid object."""
        match item:
            case SchedulerLog():
                file.logs.append(item)
                for message in item.messages:
                    file.add_message(message)
            case PodMessage():
                file.add_message(item)
            case RecordedSteps():
                file.steps = item
                file.warnings += [phrase("{file}: not in the session: {note}.", file=file.name, note=note) for note in item.notes]
            case Item():
                self._add_object(file, item)

    def _add_object(self, file: FileContents, item: Item) -> None:
        """Keep an object. If it lacks a kind, its members may show one."""
        try:
            obj = self._decode(item)
        except UnknownKindError as error:
            self._add_other_kind(file, item, error)
            return
        except DecodeError as error:
            typed_item = with_kind(item) if error.path == "kind" and not item.kind else None
            if typed_item is None:
                raise
            self._add_object(file, typed_item)
            return
        validate_possible_names(obj)
        file.add_object(obj)
        self._on_object(item, obj)
        file.newer_field = file.newer_field or newer_field(obj)
        if isinstance(obj, Node):
            file.kubelet_version = newest(file.kubelet_version, kubelet_version(item.content))
        if isinstance(obj, Pod) and obj.metadata.unread_annotations and (message := results_of(item.content)) is not None:
            file.add_message(message)
        if len(file.objects) > self._limits.objects:
            raise LimitExceeded(file.name, "there are too many objects", "objects", self._limits.objects)

    def _decode(self, item: Item) -> KubeObject:
        """The object with defaults; parts that are equal in other objects are shared. Raises `DecodeError`."""
        pod = self._pods.decode(bytes(item.content)) if isinstance(item.content, msgspec.Raw) else None
        return pod or self._sharing.object(default_object(item.decode()))

    def _add_other_kind(self, file: FileContents, item: Item, error: UnknownKindError) -> None:
        """Process an item that is not an object of the scheduler: a configuration, an Event, or a kind that is not read."""
        if error.path != "kind":
            file.tally.drop(error.kind, str(error))
        elif error.found == CONFIGURATION:
            content = item.content
            file.configs.append(ConfigText(content) if isinstance(content, dict) else parse_config(bytes(content).decode()))
        elif error.found == EVENT:
            message = message_in_event(item.content)
            if message is not None and not is_of_karpenter(message.message):
                file.add_message(message)
            elif (event := event_about(item.content)) is None:
                file.tally.drop(EVENT, _UNREAD_EVENT)
            elif not file.add_event(event):
                file.tally.drop(EVENT, f"there are more than {MAX_EVENTS:,} Events about objects in the file; the first ones were kept")
        elif error.found == "Config" and is_kubeconfig(item.content):
            raise UnreadableFile(f"{file.name}: {_KUBECONFIG}")
        elif error.found == "Status":
            if not item.path:
                raise UnreadableFile(f"{file.name}: this is an API server's error (kind Status) instead of a dump.")
            where = "this is an API server's error (kind Status) instead of an object"
            file.bad_parts.add(Problem(file.name, where, path=item.path), good=len(file.objects))
        elif error.found.endswith("List") and (inner := _inner(file.name, item)):
            self._add_inner(file, inner)
        else:
            file.tally.drop(error.found, _NOT_READ)

    def _add_inner(self, file: FileContents, items: Sequence[Item]) -> None:
        """Take the items of a list in a list. Raises the `DecodeError` of the first invalid one when all are taken."""
        first: DecodeError | None = None
        for number, item in enumerate(items):
            try:
                self._add_object(file, item)
            except DecodeError as wrong:
                if first is not None:
                    file.bad_parts.add(None, good=len(file.objects), error=wrong)
                first = first or wrong.inside(f"items[{number}]")
        if first is not None:
            raise first


def _inner(name: str, item: Item) -> list[Item]:
    try:
        return item.inner()
    except msgspec.ValidationError as error:
        raise BadObjects([Problem(name, f"this is not a list of Kubernetes objects ({error})", item.document, path=item.path)]) from None
