"""Validates the settings and the trace of a new session before anything is stored.

The shape of both is checked here. A scheduler configuration, declared extenders and feature gates are validated by building the engine,
which a thread of an engine worker does (`settings_validation_job.py`): this module runs in the web server, which never loads the engine.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
import redis

from schedviz.celery import WORKER_COMMANDS
from schedviz.ingest.trace_file import trace_from_dict
from schedviz.kube.errors import DecodeError
from schedviz.kube.json_names import camel
from schedviz.kube.validation_errors import describe, explain_validation_error
from schedviz.sessions.commands.limits import validate_config
from schedviz.sessions.commands.stored_form import canonical
from schedviz.sessions.errors import CommandRefused, SessionError
from schedviz.sessions.redis import stream, worker_calls
from schedviz.trace.commands import AnyCommand
from schedviz.trace.config_credentials import without_credentials
from schedviz.trace.releases import RELEASES, unknown_release
from schedviz.trace.simulation_settings import RULES_OF_NEW_SESSIONS, SimulationSettings, graceful_victims

_MAX_NUMBER: Final = 100_000_000
_TIMEOUT_SECONDS: Final = 20.0
#: What engine workers announce in their heartbeats, besides the queues of Celery: they have threads for it
#: (`settings_validation_thread.py`).
QUEUE: Final = "settings-validation"


class ValidationUnavailable(SessionError):
    """No engine worker validated the configuration in time. Nothing was stored."""

    code = "worker_unavailable"


class ValidationResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of a validation by an engine worker. An empty `message` means that the settings are valid."""

    path: str = ""
    message: str = ""
    expected: str = ""
    found: str = ""


def validate_settings(given: dict[str, Any], *, sender: str = "") -> dict[str, Any]:
    """The members of SimulationSettings for JSON settings (`tickMillis` becomes `tick_millis`). `sender`: in whose turn they are validated.

    Raises `DecodeError` with the path of the invalid member, or `ValidationUnavailable`.
    """
    if not given:
        return {}
    names = {camel(name): name for name in SimulationSettings.__struct_encode_fields__ if name not in RULES_OF_NEW_SESSIONS}
    for name, value in given.items():
        if name not in names:
            members = ", ".join(names)
            raise DecodeError(name, members, name, message=f"unknown field; there are {members}")
        if name != "seed" and isinstance(value, int | float) and not 0 <= value <= _MAX_NUMBER:
            raise DecodeError(name, f"a number from 0 to {_MAX_NUMBER}", describe(value))
    chosen = {names[name]: value for name, value in given.items()}
    if "config" in chosen:
        chosen["config"] = without_credentials(chosen["config"])
    if chosen.get("graceful_victims") is True:
        chosen["graceful_victims"] = graceful_victims(asked=True)
    try:
        settings = msgspec.convert(chosen, SimulationSettings)
    except msgspec.ValidationError as error:
        raise explain_validation_error(error, chosen, SimulationSettings) from None
    _validate_engine(settings, sender)
    return chosen


def validate_trace(document: dict[str, Any], *, sender: str = "") -> None:
    """Check a trace as its import will. Raises `DecodeError` with a path such as `steps[3].object.kind`, or `ValidationUnavailable`."""
    trace = trace_from_dict(document)
    for index, step in enumerate(trace.steps):
        if isinstance(step, AnyCommand):
            _validate_step(step, f"steps[{index}]")
    _validate_engine(
        SimulationSettings(
            config=without_credentials(trace.config),
            fake_extenders=list(trace.fake_extenders),
            release=trace.release,
            feature_gates=trace.feature_gates,
        ),
        sender,
    )


def _validate_step(step: AnyCommand, path: str) -> None:
    try:
        canonical(step)
    except CommandRefused as error:
        raise _as_decode_error(error.inside(path)) from None


def _as_decode_error(refused: CommandRefused) -> DecodeError:
    return DecodeError(refused.path, "", message=refused.message)


def _validate_engine(settings: SimulationSettings, sender: str) -> None:
    """Have an engine worker build an engine, if the settings have a member that only the engine can validate."""
    if settings.release not in RELEASES:
        raise DecodeError("release", " or ".join(RELEASES), settings.release, message=unknown_release(settings.release))
    if settings.config is None and not settings.fake_extenders and not settings.feature_gates:
        return
    try:
        validate_config(settings.config)
    except CommandRefused as error:
        raise _as_decode_error(error.inside("config")) from None
    try:
        verdict = _ask_worker(settings, sender)
    except redis.RedisError as error:
        raise ValidationUnavailable("The configuration was not validated, because Redis is unavailable. Try again in a moment.") from error
    if verdict.message:
        raise DecodeError(verdict.path, verdict.expected, verdict.found, message=verdict.message)


def _ask_worker(settings: SimulationSettings, sender: str) -> ValidationResult:
    """Send the settings to an engine worker and wait for its verdict. Raises `ValidationUnavailable` or `redis.RedisError`."""
    try:
        verdict = worker_calls.call_thread(msgspec.json.encode(settings), queue=QUEUE, timeout_seconds=_TIMEOUT_SECONDS, sender=sender)
    except worker_calls.NoWorker:
        raise ValidationUnavailable(
            "The configuration was not validated, because no engine worker is running. Start one (`schedviz up` does, or "
            f"`{WORKER_COMMANDS[stream.ENGINE_QUEUE]}`), then send the request again."
        ) from None
    if verdict is None:
        message = (
            f"The configuration was not validated within {_TIMEOUT_SECONDS:g} s, because all engine workers are busy. Try again later."
        )
        raise ValidationUnavailable(message)
    return msgspec.json.decode(verdict, type=ValidationResult)
