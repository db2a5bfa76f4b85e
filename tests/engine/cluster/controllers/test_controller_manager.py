"""Every controller is off until a session enables it, in its settings or with a command."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest

from schedviz.engine import Simulation, SimulationSettings
from schedviz.trace.commands import HelperName
from schedviz.trace.controllers import ControllerSettings

NAMES = get_args(HelperName)


def test_a_session_starts_without_controllers(session: Any) -> None:
    assert session().simulation.view().api.helpers == {}


@pytest.mark.parametrize("name", NAMES)
def test_each_controller_is_enabled_by_settings_or_command_and_disabled_again(session: Any, name: str) -> None:
    enabled = Simulation(SimulationSettings(helpers=msgspec.convert({name: True}, ControllerSettings)))
    do = session()
    assert do("helper", name=name) == ""
    switched_on = do.simulation.view().api.helpers
    assert do("helper", name=name, on=False) == ""

    assert list(switched_on) == [name]
    assert enabled.view().api.helpers == switched_on
    assert do.simulation.view().api.helpers == {}


@pytest.mark.parametrize(("member", "name"), [("kubeletSeconds", "kubelet"), ("podGcSeconds", "podGc")])
def test_two_controllers_have_a_delay(session: Any, member: str, name: str) -> None:
    enabled = Simulation(SimulationSettings(helpers=msgspec.convert({name: True, member: 7}, ControllerSettings)))
    do = session()
    do("helper", name=name, seconds=7)

    assert enabled.view().api.helpers == do.simulation.view().api.helpers == {name: 7.0}
