"""The comparison of `schedviz conformance` prints the same report as the script shipped with the recordings."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import pytest

from schedviz.cli.conformance.recording_differences import differences
from tests.conformance import compare, traces

#: Consecutive steps of a recording that are damaged and compared.
_STEPS = 5
REPLACEMENTS = [None, 0, 0.0, False, "", [], {}, 1, 1.5, True, "other", ["other"], {"other": 1}]


@pytest.mark.parametrize("path", traces.FILES[::4], ids=traces.name_of)
def test_both_comparisons_report_the_same_differences_of_damaged_recordings(path: Path) -> None:
    recorded = traces.document_in(path)
    source = random.Random(path.name)
    assert list(differences(recorded, recorded)) == []
    for _ in range(30):
        # Steps are compared one by one, so a few are enough: all of them take 8 s in a long recording.
        first = source.randrange(len(recorded["steps"]))
        part = {**recorded, "steps": recorded["steps"][first : first + _STEPS]}
        damaged = copy.deepcopy(part)
        for _ in range(source.randint(1, 3)):
            _damage(source.choice(damaged["steps"])["observed"], source)
        for pair in ((part, damaged), (damaged, part)):
            assert list(differences(*pair)) == list(compare.compare(*pair, strict=False, only=None))


def _damage(observed: dict[str, Any], source: random.Random) -> None:
    """Change one value in a step, as a faulty engine could, without changing types."""
    places: list[tuple[Any, Any]] = []
    _collect(observed, places)
    container, key = source.choice([place for place in places if not isinstance(place[0][place[1]], (dict, list))])
    how = source.choice(["near", "far", "drop", "replace"])
    value = container[key]
    if key == "generation" or (isinstance(value, (int, float)) and how in ("near", "far")):
        container[key] = value + (source.choice([-1, 1]) if how == "far" or key == "generation" else 0.0000001)
    elif how == "drop":
        del container[key]
    elif how == "replace":
        container[key] = source.choice(REPLACEMENTS)


def _collect(value: Any, places: list[tuple[Any, Any]]) -> None:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        if key == "nodeGenerations":
            continue
        places.append((value, key))
        _collect(member, places)


def test_both_comparisons_report_missing_steps_and_errors() -> None:
    recorded = traces.document_in(traces.FILES[0])
    for other in ({**recorded, "steps": recorded["steps"][:-1]}, {**recorded, "error": "refused"}, {"steps": None}, {}):
        for pair in ((recorded, other), (other, recorded)):
            assert list(differences(*pair)) == list(compare.compare(*pair, strict=False, only=None))


def test_generations_are_compared_by_rank_and_times_approximately() -> None:
    def document(generations: list[int], snapshot: int, seconds: float) -> dict[str, Any]:
        cache = {"list": [{"name": str(index), "generation": number} for index, number in enumerate(generations)]}
        observed = {"cache": cache, "snapshot": {"generation": snapshot}, "clockSeconds": seconds}
        return {"steps": [{"op": "cycle", "observed": observed}]}

    assert not list(differences(document([9, 7, 2], 7, 1.5), document([5, 4, 3], 4, 1.5000000001)))
    assert list(differences(document([9, 7, 2], 7, 1.5), document([5, 4, 3], 5, 1.5)))
    assert list(differences(document([9, 7, 2], 7, 1.5), document([9, 7, 2], 7, 1.51)))
