"""The settings of a session's engine."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from schedviz.trace.releases import V1_27, V1_36
from schedviz.trace.simulation_settings import SimulationSettings


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({}, {V1_27: "first", V1_36: "heap"}),
        ({"first_of_tied": False}, {V1_27: "random", V1_36: "heap"}),
        ({"first_of_heap": True}, {V1_27: "first", V1_36: "first"}),
        ({"random_of_tied": True}, {V1_27: "random", V1_36: "random"}),
        ({"random_of_tied": True, "first_of_heap": True, "first_of_tied": False}, {V1_27: "random", V1_36: "random"}),
    ],
)
def test_each_release_breaks_ties_by_its_own_settings(members: dict[str, Any], expected: dict[str, str]) -> None:
    found = {release: msgspec.convert({**members, "release": release}, SimulationSettings).tie_break for release in expected}
    assert found == expected
