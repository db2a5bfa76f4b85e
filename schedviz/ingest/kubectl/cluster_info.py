"""Reads the output of `kubectl cluster-info dump`: lists in JSON or YAML, interleaved with container logs.

With `--output-directory` the output is a folder, whose files are read individually.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from schedviz.ingest.errors import Problem
from schedviz.ingest.file_contents import RecordedSteps
from schedviz.ingest.limits import Limits
from schedviz.ingest.logs.scheduler_log import SchedulerLog, looks_like_log, read_log
from schedviz.ingest.manifests.json_dump import JsonReader
from schedviz.ingest.manifests.yaml_dump import YamlReader
from schedviz.ingest.reader import Item, Reader
from schedviz.ingest.scheduler_messages import PodMessage

_LOG_START: Final = re.compile(rb"^==== START logs for container (\S+) of pod (\S+) ====\n", re.MULTILINE)
_LOG_END: Final = re.compile(rb"^==== END logs for container \S+ of pod \S+ ====[ \t]*\n?", re.MULTILINE)
_SCHEDULER: Final = b"kube-scheduler"
_NOT_LINE_ENDS: Final = re.compile(rb"[^\n]+")


class ClusterInfoReader:
    """Reads the concatenated output: the lists and the logs of kube-scheduler."""

    format = "kubectl cluster-info dump"

    def __init__(self) -> None:
        self._readers: tuple[Reader, ...] = (JsonReader(), YamlReader())

    def recognises(self, text: bytes) -> bool:
        """Whether there are container logs between the lists."""
        return _LOG_START.search(text) is not None

    def read(self, name: str, text: bytes, limits: Limits) -> Iterator[Item | SchedulerLog | PodMessage | RecordedSteps | Problem]:
        """The objects and logs."""
        for container, log in _logs(text):
            if _SCHEDULER in container and looks_like_log(log):
                yield read_log(f"{name}: {container.decode('utf-8', 'replace')}", log, limits)
        lists = _without_logs(text)
        yield from self._reader(lists).read(name, lists, limits)

    def documents(self, text: bytes) -> int:
        """The number of lists."""
        lists = _without_logs(text)
        return self._reader(lists).documents(lists)

    def line_of(self, text: bytes, document: int, path: str) -> int:
        """The line number of `path`, with logs included in the count."""
        lists = _without_logs(text)
        return self._reader(lists).line_of(lists, document, path)

    def _reader(self, lists: bytes) -> Reader:
        return next((reader for reader in self._readers if reader.recognises(lists)), self._readers[0])


def _logs(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """`pod/container` and the log, of each log."""
    position = 0
    while (start := _LOG_START.search(text, position)) is not None:
        end = _LOG_END.search(text, start.end())
        position = end.end() if end is not None else len(text)
        yield start[2] + b"/" + start[1], text[start.end() : end.start() if end is not None else len(text)]


def _without_logs(text: bytes) -> bytes:
    """The text with logs replaced by empty lines, so that line numbers stay the same."""
    parts, position = [], 0
    while (start := _LOG_START.search(text, position)) is not None:
        end = _LOG_END.search(text, start.end())
        stop = end.end() if end is not None else len(text)
        parts += [text[position : start.start()], _NOT_LINE_ENDS.sub(b"", text[start.start() : stop])]
        position = stop
    return b"".join([*parts, text[position:]])
