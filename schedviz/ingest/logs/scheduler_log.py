"""Parses the log of kube-scheduler: the reasons why pods did not fit, bindings, and SIGUSR2 dumps."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from schedviz.engine.cache.debugger.dumper import NODES_MESSAGE
from schedviz.engine.cache.debugger.signal import Signal
from schedviz.engine.failure import NO_NODES_AVAILABLE
from schedviz.ingest.errors import LimitExceeded
from schedviz.ingest.limits import Limits
from schedviz.ingest.logs.klog import HEADER, Record, records
from schedviz.ingest.logs.log_lines import log_lines
from schedviz.ingest.logs.sigusr2 import Signals
from schedviz.ingest.scheduler_messages import PodMessage

FORMAT: Final = "kube-scheduler log"
#: The most dumps of one log that are kept; the newest ones.
MAX_SIGNALS: Final = 20
#: How many pods to take from the lines about attempts after a dump: one of them was being tried when it was made, others were being bound.
_MAX_TRIED_NEXT: Final = 8
#: How much of a file is examined to recognise a log.
_HEAD_BYTES: Final = 64 << 10
_HEAD_LINES: Final = 40
#: Until 1.18: `Unable to schedule default/web-1: no fit: 0/3 nodes …; waiting`.
_OLD_NO_FIT: Final = re.compile(r"Unable to schedule (\S+): no fit: (.*); waiting$", re.DOTALL)
#: `…; no fit; waiting`; v1.36 also has `… belonging to a pod group; waiting`.
_UNABLE: Final = ("Unable to schedule pod; no fit", "Unable to schedule pod belonging to a pod group")
#: `…; retrying`, or `…; skip update pod condition`: the attempt ended with an error.
_FAILED: Final = "Error scheduling pod"
#: Upstream: cmd/kube-scheduler/app/server.go Run
_STARTS: Final = "Starting Kubernetes Scheduler"
#: Upstream: component-base/cli/flag PrintFlags
_GATES: Final = "FLAG: --feature-gates="
_MAX_VERSION_LENGTH: Final = 40
_NO_NODES: Final = "Unable to schedule pod; no nodes are registered to the cluster"


class SchedulerLog(msgspec.Struct, frozen=True):
    """The contents of one log."""

    name: str
    #: The oldest first.
    signals: tuple[Signal, ...] = ()
    #: The latest message about each pod that did not fit.
    messages: tuple[PodMessage, ...] = ()
    records: int = 0
    #: Bound pods: `namespace/name` -> node. A bound pod has no entry in `messages`.
    bound: dict[str, str] = {}
    #: The number of earlier dumps that were not kept.
    older_signals: int = 0
    #: The version that the scheduler wrote when it started last; "": the log contains no start.
    version: str = ""
    #: The feature gates on its command line, if the log has the flags (-v=2).
    feature_gates: dict[str, bool] = {}


def looks_like_log(text: bytes) -> bool:
    """Whether the text begins as a klog log does (text or JSON, with or without a runtime's prefixes), or is a pasted dump."""
    head = text[:_HEAD_BYTES]
    for number, line in enumerate(log_lines(head)):
        bare = line.text.lstrip()
        if HEADER.match(bare) or bare.startswith("Node name: ") or f'"{NODES_MESSAGE}"' in bare:
            return True
        if bare.startswith("{") and '"msg":' in bare and ('"ts":' in bare or '"caller":' in bare):
            return True
        if number >= _HEAD_LINES:
            break
    return False


def read_log(name: str, text: bytes, limits: Limits) -> SchedulerLog:
    """The contents of a log, with only the latest message about each pod. Raises `LimitExceeded`."""
    reading = _Reading(name, limits)
    count = 0
    for count, record in enumerate(records(log_lines(text)), start=1):  # noqa: B007
        reading.signals.add_record(record)
        reading.add_record(record)
    signals = reading.finish()
    return SchedulerLog(
        name=name,
        signals=tuple(signals[-MAX_SIGNALS:]),
        messages=tuple(reading.messages.values()),
        records=count,
        bound=reading.bound,
        version=reading.version,
        feature_gates=reading.feature_gates,
        older_signals=max(len(signals) - MAX_SIGNALS, 0),
    )


class _Reading:
    """The state while a log is parsed."""

    def __init__(self, name: str, limits: Limits) -> None:
        self._name = name
        self._limits = limits
        self.signals = Signals(self._check_room)
        self.messages: dict[str, PodMessage] = {}
        self.bound: dict[str, str] = {}
        self.version = ""
        self.feature_gates: dict[str, bool] = {}
        #: Pods that were tried -> when last, in the log's format.
        self._attempts: dict[str, str] = {}
        #: For each dump, the pods of the next lines about attempts.
        self._tried_next: list[set[str]] = []

    def finish(self) -> list[Signal]:
        """The dumps, the oldest first, with what the log shows about their time."""
        signals = self.signals.finish()
        bound = {pod: time for pod, time in self._attempts.items() if pod in self.bound}
        tried = [*self._tried_next, *(set[str]() for _ in signals)]
        return [
            msgspec.structs.replace(signal, tried_next=frozenset(pods), attempts=self._attempts, bound=bound)
            for signal, pods in zip(signals, tried, strict=False)
        ]

    def add_record(self, record: Record) -> None:
        if record.message.startswith(_NO_NODES):
            # The line need not have the error, which is always this one.
            self._did_not_fit(_pod_of(record), NO_NODES_AVAILABLE, record)
        elif record.message.startswith((*_UNABLE, _FAILED)):
            self._did_not_fit(_pod_of(record), str(record.values.get("err", "")), record)
        elif record.message == "Successfully bound pod to node":
            pod = _pod_of(record)
            self.bound[pod] = str(record.values.get("node", ""))
            self._tried(pod, record)
            self.messages.pop(pod, None)
        elif record.message.startswith(_GATES):
            self.feature_gates = _gates(record.message.removeprefix(_GATES).strip('"'))
        elif record.message == _STARTS:
            self.version = str(record.values.get("version", ""))[:_MAX_VERSION_LENGTH]
        elif record.message.startswith("Unable to schedule ") and (old := _OLD_NO_FIT.match(record.message)):
            self._did_not_fit(old[1], old[2], record)

    def _check_room(self, count: int) -> None:
        if count >= self._limits.objects:
            raise LimitExceeded(self._name, "there are too many nodes in a dump", "objects", self._limits.objects)

    def _did_not_fit(self, pod: str, message: str, record: Record) -> None:
        if pod and message:
            self.bound.pop(pod, None)
            self._tried(pod, record)
            self.messages[pod] = PodMessage(pod, message, record.seconds, record.at)

    def _tried(self, pod: str, record: Record) -> None:
        self._attempts[pod] = record.at
        count = self.signals.count
        while len(self._tried_next) < count:
            self._tried_next.append(set())
        if count and len(self._tried_next[-1]) < _MAX_TRIED_NEXT:
            self._tried_next[-1].add(pod)


def _gates(text: str) -> dict[str, bool]:
    """`A=true,B=false`. v1.36 writes `:A=true`, with the name of a component before the colon."""
    pairs = (pair.rpartition(":")[2].partition("=") for pair in text.split(","))
    return {name: value == "true" for name, _, value in pairs if name and value in ("true", "false")}


def _pod_of(record: Record) -> str:
    """`namespace/name`, which JSON logs have in two fields."""
    pod = record.values.get("pod", "")
    return f"{pod.get('namespace', '')}/{pod.get('name', '')}" if isinstance(pod, dict) else str(pod)
