"""`GuardedPlugin`: isolates the faults of users' plugins. Exceptions and invalid return values become Status Error.

The framework sees the plugin's extension points, but none of its faults: return values are checked, and so is data written to CycleState,
which a checkpoint must be able to store.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from typing import Any, Final

import msgspec
import numpy as np

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import PRE_BIND_WAIT_KEY, ObjectVerb, PostFilterResult, PreFilterResult, Scores
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Code, Status, StatusError, as_status
from schedviz.engine.framework.types import ClusterEvent, PodInfo
from schedviz.engine.framework.verdicts import CODE_TYPE, Verdicts
from schedviz.kube.meta import KubeObject

logger = logging.getLogger(__name__)

#: Extension points that return only a Status.
_STATUS_POINTS: Final = ("pre_enqueue", "add_pod", "remove_pod", "pre_score", "reserve", "bind")
#: Calls without a return value.
_SILENT_POINTS: Final = ("unreserve", "post_bind")
_POINTS: Final = (
    *_STATUS_POINTS,
    *_SILENT_POINTS,
    *("pre_filter", "filter", "filter_node", "post_filter", "score", "score_node", "normalize_score", "permit", "pre_bind"),
)

#: Members of plugins, and those without which they would never be called: one of these is required, too.
_COMPANIONS: Final = (
    ("reserve", ("unreserve",)),
    ("unreserve", ("reserve",)),
    ("add_pod", ("remove_pod",)),
    ("remove_pod", ("add_pod",)),
    ("add_pod", ("pre_filter",)),
    ("normalize_score", ("score", "score_node")),
    ("watched_kinds", ("object_changed",)),
    ("object_changed", ("watched_kinds",)),
    ("to_state", ("load",)),
)

#: The longest traceback that is kept, in characters.
_MAX_TRACEBACK_LENGTH: Final = 20_000


class PluginFault(msgspec.Struct, frozen=True):
    """What went wrong in a user's plugin."""

    message: str
    #: "": no exception was raised.
    traceback: str


class _InvalidReturnError(Exception):
    """A value that the method must not return."""


class GuardedPlugin:
    """A user's plugin, under its name in the configuration. It has the methods that the plugin has."""

    def __init__(self, name: str, plugin: Any) -> None:
        """Raises `ValueError` if the plugin cannot be used."""
        self.name = name
        self._plugin = plugin
        #: The first fault since the plugin was created, for callers that end a run because of it.
        self.first_fault: PluginFault | None = None
        if callable(getattr(plugin, "less", None)):
            raise ValueError("a plugin that was installed cannot sort the queue (it has the method less)")  # noqa: TRY004
        points = [point for point in _POINTS if callable(getattr(plugin, point, None))]
        if not points:
            raise ValueError(f"it has no method of an extension point; expected one or more of {', '.join(_POINTS)}")
        for member, companions in _COMPANIONS:
            if hasattr(plugin, member) and not any(hasattr(plugin, companion) for companion in companions):
                raise ValueError(f"it has {member} without {' or '.join(companions)}, so {member} would never be used; add {companions[0]}")
        for point in points:
            setattr(self, *self._guard(point))
        if hasattr(plugin, "events_to_register"):
            events = tuple(plugin.events_to_register())
            if not all(isinstance(event, ClusterEvent) for event in events):
                raise ValueError("events_to_register returned something that is no ClusterEvent")
            self.events_to_register = lambda: events
        if hasattr(plugin, "watched_kinds"):
            self.watched_kinds = tuple(plugin.watched_kinds)
            self.object_changed = self._object_changed
        if hasattr(plugin, "to_state"):
            self.to_state, self.load = plugin.to_state, plugin.load
            # is_read_only is its former name.
            self.is_dry_run_safe = getattr(plugin, "is_dry_run_safe", getattr(plugin, "is_read_only", False)) is True

    def _guard(self, point: str) -> tuple[str, Callable[..., Any]]:
        """The name and the guarded method of an extension point."""
        method = getattr(self._plugin, point)
        if point in _STATUS_POINTS:
            return point, lambda *args: self._call(method, args, _status, as_status)
        if point in _SILENT_POINTS:
            return point, lambda *args: self._call_without_result(point, method, args)
        match point:
            case "pre_filter":
                return point, lambda *args: self._call(method, args, _pre_filter, lambda fault: (None, as_status(fault)))
            case "post_filter":
                return point, lambda *args: self._call(method, args, _post_filter, lambda fault: (None, as_status(fault)))
            case "permit":
                return point, lambda *args: self._call(method, args, _permit, lambda fault: (as_status(fault), 0))
            case "pre_bind":
                return point, lambda *args: self._call(method, args, _pre_bind(args[0]), as_status)
            case "filter":
                return point, self._filter
            case "filter_node":
                return "filter", self._filter_nodes
            case "score_node":
                return "score", self._score_nodes
            case _:
                return point, lambda state, pod, rows: self._call(method, (state, pod, rows), _scores(len(rows)), as_status)

    def _call(self, method: Callable[..., Any], args: tuple[Any, ...], check: Callable[[Any], Any], failed: Callable[[str], Any]) -> Any:
        """What the plugin returns, or the result of `failed` for its fault."""
        state = args[0] if isinstance(args[0], CycleState) else None
        before = state.written() if state is not None else {}
        try:
            returned = check(method(*args))
        except Exception as error:  # noqa: BLE001  (this is a plugin's code)
            returned = failed(self._record_fault(error))
        fault = state.remove_unstorable(before) if state is not None else ""
        if fault:
            self._record_fault(_InvalidReturnError(fault))
        return failed(fault) if fault else returned

    def _record_fault(self, error: Exception) -> str:
        """Keep the first fault. Returns the exception in one line."""
        line = _in_one_line(error)
        if self.first_fault is None:
            text = "" if isinstance(error, _InvalidReturnError) else "".join(traceback.format_exception(error))
            self.first_fault = PluginFault(line, text[-_MAX_TRACEBACK_LENGTH:])
        return line

    def _call_without_result(self, point: str, method: Callable[..., Any], args: tuple[Any, ...]) -> None:
        """Upstream's signature of these calls has no error, so exceptions go to the server's log."""
        before = args[0].written() if isinstance(args[0], CycleState) else {}
        try:
            method(*args)
        except Exception as error:  # noqa: BLE001  (this is a plugin's code)
            logger.warning("plugin %s failed in %s: %s", self.name, point, self._record_fault(error))
        if isinstance(args[0], CycleState):
            fault = args[0].remove_unstorable(before)
            if fault:
                logger.warning("plugin %s failed in %s: %s", self.name, point, self._record_fault(_InvalidReturnError(fault)))

    def _object_changed(self, verb: ObjectVerb, obj: KubeObject) -> None:
        self._call_without_result("object_changed", self._plugin.object_changed, (verb, obj))

    # Filter and Score, for many rows at once.

    def _filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:
        returned: Verdicts | None = self._call(self._plugin.filter, (state, pod, rows), _verdicts(len(rows)), _on_all(rows))
        return returned

    def _filter_nodes(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:
        """A row at which the plugin fails has its own error; other rows keep their statuses."""

        def filter_each(state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:
            statuses = []
            for info in rows.infos:
                try:
                    statuses.append(_status(self._plugin.filter_node(state, pod, info)))
                except Exception as error:  # noqa: BLE001  (this is a plugin's code)
                    statuses.append(as_status(self._record_fault(error)))
            return None if all(status.is_success for status in statuses) else Verdicts.of(statuses)

        returned: Verdicts | None = self._call(filter_each, (state, pod, rows), lambda verdicts: verdicts, _on_all(rows))
        return returned

    def _score_nodes(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status:
        def score_each(state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status:
            scores = []
            for info in rows.infos:
                score = self._plugin.score_node(state, pod, info)
                if isinstance(score, Status):
                    return _status(score)
                scores.append(score)
            return scores  # type: ignore[return-value]  # _scores makes an array of them

        returned: Scores | Status = self._call(score_each, (state, pod, rows), _scores(len(rows)), as_status)
        return returned


def _on_all(rows: Rows) -> Callable[[str], Verdicts]:
    """A function that makes a fault the verdict for all rows."""
    return lambda fault: Verdicts.all(len(rows), as_status(fault))


def _in_one_line(error: Exception) -> str:
    """An exception of a plugin, in one line."""
    if isinstance(error, _InvalidReturnError):
        return str(error)
    return " ".join(f"{type(error).__name__}: {error}".removesuffix(": ").split())[:500]


def _described(returned: object) -> str:
    text = repr(returned) if isinstance(returned, (type(None), bool, int, float, str)) else type(returned).__name__
    return text if len(text) <= 80 else f"{text[:79]}…"


def _status(returned: Any) -> Status:
    if not isinstance(returned, Status):
        raise _InvalidReturnError(f"expected a Status, found {_described(returned)}")
    reasons, error = returned.own_reasons, returned.error
    if (
        not isinstance(returned.code, Code)
        or not isinstance(reasons, tuple)
        or not all(isinstance(reason, str) for reason in reasons)
        or not (error is None or isinstance(error, StatusError))
    ):
        raise _InvalidReturnError("expected a Status with a Code, a tuple of reasons and a StatusError, or none")
    return SUCCESS if returned == SUCCESS else returned


def _pair(returned: Any, expected: str) -> tuple[Any, Any]:
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise _InvalidReturnError(f"expected {expected}, found {_described(returned)}")
    return returned


def _pre_filter(returned: Any) -> tuple[PreFilterResult | None, Status]:
    result, status = _pair(returned, "a PreFilterResult (or None) and a Status")
    if result is not None:
        names = result.node_names if isinstance(result, PreFilterResult) else 0
        if not (names is None or (isinstance(names, frozenset) and all(isinstance(name, str) for name in names))):
            raise _InvalidReturnError("expected a PreFilterResult with a frozenset of names of nodes, or None")
    return result, _status(status)


def _post_filter(returned: Any) -> tuple[PostFilterResult | None, Status]:
    result, status = _pair(returned, "a PostFilterResult (or None) and a Status")
    if not (result is None or isinstance(result, PostFilterResult)):
        raise _InvalidReturnError(f"expected a PostFilterResult, found {_described(result)}")
    return result, _status(status)


def _permit(returned: Any) -> tuple[Status, int]:
    status, timeout = _pair(returned, "a Status and a timeout in nanoseconds")
    if isinstance(timeout, bool) or not isinstance(timeout, int):
        raise _InvalidReturnError(f"expected a timeout in whole nanoseconds, found {_described(timeout)}")
    return _status(status), timeout


def _pre_bind(state: CycleState) -> Callable[[Any], Status | None]:
    def check(returned: Any) -> Status | None:
        if returned is None and PRE_BIND_WAIT_KEY in state:
            return None
        return _status(returned)

    return check


def _verdicts(count: int) -> Callable[[Any], Verdicts | None]:
    def check(returned: Any) -> Verdicts | None:
        if returned is None:
            return None
        if not isinstance(returned, Verdicts):
            raise _InvalidReturnError(f"expected Verdicts, found {_described(returned)}")
        codes = np.asarray(returned.codes)
        if codes.shape != (count,):
            raise _InvalidReturnError(f"expected verdicts for {count} nodes, found {len(codes) if codes.ndim else 'one number'}")
        statuses = tuple(_status(status) for status in returned.statuses)
        if codes.dtype.kind not in "iu" or (count and not 0 <= int(codes.min()) <= int(codes.max()) < len(statuses)):
            raise _InvalidReturnError(f"expected codes from 0 to {len(statuses) - 1}")
        if not statuses or not statuses[0].is_success or any(status.is_success for status in statuses[1:]):
            raise _InvalidReturnError("expected Success as the first of the statuses, and nowhere else")
        return Verdicts(codes.astype(CODE_TYPE), statuses)

    return check


def _scores(count: int) -> Callable[[Any], Scores | Status]:
    def check(returned: Any) -> Scores | Status:
        if isinstance(returned, Status):
            if returned.is_success:
                raise _InvalidReturnError("expected scores, found Success")
            return _status(returned)
        scores = returned if isinstance(returned, (np.ndarray, list)) else None
        array = np.asarray(scores) if scores is not None else np.zeros(())
        if array.ndim != 1 or array.dtype.kind not in ("iu" if len(array) else "iuf"):
            raise _InvalidReturnError(f"expected whole numbers, one for each node, found {_invalid_scores(returned)}")
        if len(array) != count:
            raise _InvalidReturnError(f"expected {count} scores, found {len(array)}")
        return array.astype(np.int64)

    return check


def _invalid_scores(returned: Any) -> str:
    if isinstance(returned, list):
        return next((_described(item) for item in returned if isinstance(item, bool) or not isinstance(item, int)), "numbers too large")
    return f"an array of {returned.dtype}" if isinstance(returned, np.ndarray) else _described(returned)
