"""Validates a session's settings in an engine worker, by building an engine from them. `validation.py` waits for the verdict."""

from __future__ import annotations

import msgspec

from schedviz.engine import ConfigurationError, Simulation
from schedviz.engine.releases import RELEASES
from schedviz.sessions.redis.worker_calls import store_result
from schedviz.sessions.transfer.validation import ValidationResult
from schedviz.trace.releases import not_simulated
from schedviz.trace.simulation_settings import SimulationSettings


def validate(settings: bytes, result_key: str) -> None:
    """Validate JSON settings, and store the verdict under `result_key`."""
    store_result(result_key, msgspec.json.encode(validation_result(msgspec.json.decode(settings, type=SimulationSettings))))


def validation_result(settings: SimulationSettings) -> ValidationResult:
    """The reason why no engine can be built from the settings, with a path such as `config.profiles`; an empty verdict if one can."""
    refused = not_simulated(settings.feature_gates)
    if refused is not None and refused[0] in RELEASES[settings.release].gates:
        gate, message = refused
        return ValidationResult(f"featureGates.{gate}", message, "false", "true")
    try:
        Simulation(settings)
    except ConfigurationError as error:
        if error.path.startswith("fakeExtenders"):
            return ValidationResult(error.path, error.message)
        if error.path.startswith("featureGates."):
            return _gate_result(settings, error)
        return ValidationResult(f"config.{error.path}" if error.path else "config", error.message)
    except ValueError as error:
        return ValidationResult(message=str(error))
    return ValidationResult()


def _gate_result(settings: SimulationSettings, error: ConfigurationError) -> ValidationResult:
    """For a feature gate that does not exist in the release, that is locked, or that depends on another one."""
    name = error.path.removeprefix("featureGates.")
    gates = RELEASES[settings.release].gates
    if name not in gates:
        return ValidationResult(error.path, error.message, ", ".join(gates) or "no feature gate", name)
    if gates[name].is_locked:
        default, actual = ("true", "false") if gates[name].default else ("false", "true")
        return ValidationResult(error.path, error.message, default, actual)
    return ValidationResult(error.path, error.message)
