"""Makes log lines as v1.36's loggers do."""

from __future__ import annotations

from typing import Any, Final

from schedviz.engine.cache.debugger.log_line import LogLine, ObjectRef

#: From this verbosity on, the framework gives its loggers names. Upstream: framework/runtime/framework.go verboseLogs
_LOGGER_NAMES_VERBOSITY: Final = 4

Values = tuple[tuple[str, Any], ...]


class Writer:
    """Makes lines with the time `at`."""

    def __init__(self, verbosity: int) -> None:
        self._names_loggers = verbosity >= _LOGGER_NAMES_VERBOSITY
        #: Nanoseconds since 1970.
        self.at = 0
        #: Pods whose cycle is part of that of their group -> the group. The loggers of such cycles have the group, too.
        self.groups: dict[str, str] = {}

    def _cycle(self, pod: str) -> Values:
        """What the logger of a pod's cycle adds to each line."""
        if not pod:
            return ()
        group = self.groups.get(pod)
        return ((("podGroup", ObjectRef.of(group)),) if group else ()) + (("pod", ObjectRef.of(pod)),)

    def line(self, caller: str, message: str, *values: tuple[str, Any], v: int, cycle_of: str = "", logger: str = "") -> LogLine:
        """A line. `cycle_of`: the pod whose cycle's logger is used; `logger`: the name that the framework gives it."""
        context = self._cycle(cycle_of)
        return LogLine(self.at, caller, message, values, v, context, logger if self._names_loggers else "")

    def line_of_group(self, caller: str, message: str, *values: tuple[str, Any], v: int, group: str) -> LogLine:
        """A line of the logger of a group's cycle."""
        return LogLine(self.at, caller, message, values, v, (("podGroup", ObjectRef.of(group)),))

    def line_on_node(self, caller: str, message: str, *values: tuple[str, Any], v: int, cycle_of: str, logger: str, node: str) -> LogLine:
        """A line of a plugin's logger, to which the framework added the node."""
        context = self._cycle(cycle_of)
        if self._names_loggers:
            context = (*context, ("node", node))
        return LogLine(self.at, caller, message, values, v, context, logger if self._names_loggers else "")

    def error(self, caller: str, message: str, error: str, *values: tuple[str, Any], cycle_of: str, logger: str = "") -> LogLine:
        """An error's line. `logger` is a name that the framework gives; see `unhandled`."""
        context = self._cycle(cycle_of)
        name = logger if self._names_loggers else ""
        return LogLine(self.at, caller, message, values, 0, context, name, is_error=True, error=error)

    def unhandled(self, caller: str, message: str, error: str, *values: tuple[str, Any], cycle_of: str) -> LogLine:
        """An error's line by the handler of unhandled errors. Upstream: apimachinery/pkg/util/runtime HandleErrorWithContext"""
        context = self._cycle(cycle_of)
        return LogLine(self.at, caller, message, values, 0, context, "UnhandledError", is_error=True, error=error)


def pod_ref(key: str, name: str = "pod") -> tuple[str, ObjectRef]:
    """The value of a pod, by key."""
    return name, ObjectRef.of(key)
