"""What can be said of a trace, and of a session's settings, before a session is made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedviz.ingest.trace_file import TraceFile, trace_from_dict
from schedviz.kube.errors import DecodeError
from schedviz.sessions.commands.stored_form import canonical
from schedviz.sessions.errors import CommandRefused
from schedviz.trace.commands import AnyCommand

if TYPE_CHECKING:
    from schedviz.engine import SimulationSettings


def check_trace(document: dict[str, Any]) -> None:
    """Find what would make the import of this trace fail. Raises `DecodeError` with a path such as `steps[3].object.kind`."""
    trace = trace_from_dict(document)
    for index, step in enumerate(trace.steps):
        if isinstance(step, AnyCommand):
            _check_step(step, f"steps[{index}]")
    _check_header(trace)


def _check_step(step: AnyCommand, path: str) -> None:
    try:
        canonical(step)
    except CommandRefused as error:
        member, colon, message = str(error).partition(": ")
        if not colon:
            raise DecodeError(path, "", message=str(error)) from None
        raise DecodeError(f"{path}.{member}", "", message=message) from None


def _check_header(trace: TraceFile) -> None:
    # Not above: the web process has no need of the engine, and of NumPy with it, before somebody sends a trace.
    from schedviz.engine import settings_of

    check_engine(settings_of(trace))


def check_engine(settings: SimulationSettings) -> None:
    """Find what an engine would refuse of its settings. Raises `DecodeError` with a path such as `config.profiles`."""
    from schedviz.engine import ConfigurationError, Simulation

    try:
        Simulation(settings)
    except ConfigurationError as error:
        where = error.path if error.path.startswith("fakeExtenders") else f"config.{error.path}" if error.path else "config"
        raise DecodeError(where, "", message=error.message) from None
    except ValueError as error:
        raise DecodeError("", "", message=str(error)) from None
