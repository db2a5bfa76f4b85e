"""Frozen objects are not collected, and collections can be paused."""

from __future__ import annotations

import gc
import weakref

from schedviz.kube.gc_tuning import freeze_loaded_objects, without_gc


class Ring:
    """An object that refers to itself."""

    def __init__(self) -> None:
        self.me = self


def test_frozen_objects_are_ignored_and_later_ones_are_collected() -> None:
    loaded = Ring()
    freeze_loaded_objects()
    assert not any(one is loaded for one in gc.get_objects())
    later = weakref.ref(Ring())
    gc.collect()
    assert later() is None


def test_the_collector_is_paused_in_a_block() -> None:
    with without_gc():
        assert not gc.isenabled()
    assert gc.isenabled()
