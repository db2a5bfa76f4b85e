"""An import reports its progress, can be canceled, and restores the garbage collector's settings."""

import gc

import pytest

from schedviz.ingest.errors import ImportCancelled
from schedviz.ingest.limits import Limits
from schedviz.ingest.load import Progress, load
from tests.ingest.sources import SAMPLES, source

TEXT = (SAMPLES / "list.json").read_bytes()


def test_progress_is_reported_for_each_phase():
    reports: list[Progress] = []
    load([source(TEXT, "a.json")], Limits(), reports.append)
    assert [progress.phase for progress in reports] == ["unpacking", "reading", "done"]
    assert reports[0] == Progress("unpacking", len(TEXT), file="a.json")
    assert reports[1] == Progress("reading", 0, 5, unit="objects", file="a.json")
    assert reports[-1] == Progress("done", 4, 4, unit="objects")


@pytest.mark.parametrize("after", [0, 1])
def test_an_import_can_be_cancelled_in_every_phase(after):
    answers = iter([False] * after + [True] * 10)
    with pytest.raises(ImportCancelled):
        load([source(TEXT)], cancelled=lambda: next(answers))


def test_the_garbage_collector_is_enabled_again_afterwards():
    assert gc.isenabled()
    load([source(TEXT)])
    assert gc.isenabled()
    with pytest.raises(ImportCancelled):
        load([source(TEXT)], cancelled=lambda: True)
    assert gc.isenabled()
