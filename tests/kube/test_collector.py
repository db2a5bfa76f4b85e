"""The garbage collector is kept from useless work."""

from __future__ import annotations

import gc
import weakref

from schedviz.kube.collector import keep_what_is_loaded, without_gc


class Ring:
    """An object that refers to itself."""

    def __init__(self) -> None:
        self.me = self


def test_what_is_loaded_is_not_looked_at_again_and_what_comes_later_is() -> None:
    loaded = Ring()
    keep_what_is_loaded()
    assert not any(one is loaded for one in gc.get_objects())
    later = weakref.ref(Ring())
    gc.collect()
    assert later() is None


def test_it_is_paused_and_goes_on() -> None:
    with without_gc():
        assert not gc.isenabled()
    assert gc.isenabled()
