"""What a user says of a session's engine, checked before anything is made."""

from __future__ import annotations

from typing import Any

import msgspec

from schedviz.kube.errors import DecodeError
from schedviz.kube.explain import describe, explain_validation_error
from schedviz.kube.json_names import camel
from schedviz.sessions.transfer.trace_check import check_engine

_MOST = 100_000_000


def simulation_settings(given: dict[str, Any]) -> dict[str, Any]:
    """Members of the engine's SimulationSettings from their JSON, where they are called `tickMillis` and so on.

    Raises `DecodeError` with the path of what is wrong.
    """
    if not given:
        return {}
    # Not above: the web process has no need of the engine, and of NumPy with it, before somebody sends settings.
    from schedviz.engine import SimulationSettings, graceful_victims

    names = {camel(name): name for name in SimulationSettings.__struct_fields__}
    for name, value in given.items():
        if name not in names:
            members = ", ".join(names)
            raise DecodeError(name, members, name, message=f"unknown field; there are {members}")
        if name != "seed" and isinstance(value, int | float) and not 0 <= value <= _MOST:
            raise DecodeError(name, f"a number from 0 to {_MOST}", describe(value))
    chosen = {names[name]: value for name, value in given.items()}
    if chosen.get("graceful_victims") is True:
        chosen["graceful_victims"] = graceful_victims(asked=True)
    try:
        settings = msgspec.convert(chosen, SimulationSettings)
    except msgspec.ValidationError as error:
        raise explain_validation_error(error, chosen, SimulationSettings) from None
    if settings.config is not None or settings.fake_extenders:
        check_engine(settings)
    return chosen
