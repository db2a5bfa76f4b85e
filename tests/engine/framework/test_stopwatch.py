"""Plugins' times are separated by extension point, and counted once."""

from __future__ import annotations

from itertools import count

from schedviz.engine.framework.runtime import Stopwatch


def test_time_is_reported_by_extension_point_and_plugin():
    ticks = count()
    watch = Stopwatch(lambda: next(ticks))
    fit = watch.timed("Filter", "NodeResourcesFit", lambda rows: rows + 1)
    score = watch.timed("Score", "NodeResourcesFit", lambda: 7)

    assert (fit(1), fit(2), score()) == (2, 3, 7)

    assert watch.drain() == {"Filter": {"NodeResourcesFit": 2}, "Score": {"NodeResourcesFit": 1}}
    assert watch.drain() == {}


def test_nested_calls_count_for_the_outer_plugin():
    ticks = count()
    watch = Stopwatch(lambda: next(ticks))
    inner = watch.timed("Filter", "NodeName", lambda: None)
    outer = watch.timed("PostFilter", "DefaultPreemption", inner)

    outer()

    assert watch.drain() == {"PostFilter": {"DefaultPreemption": 1}}


def test_a_plugin_that_fails_is_timed_and_the_next_one_too():
    ticks = count()
    watch = Stopwatch(lambda: next(ticks))

    def fail() -> None:
        raise RuntimeError

    broken, whole = watch.timed("Filter", "Broken", fail), watch.timed("Filter", "Whole", int)
    try:
        broken()
    except RuntimeError:
        whole()

    assert watch.drain() == {"Filter": {"Broken": 1, "Whole": 1}}


def test_while_off_calls_are_not_timed():
    ticks = count()
    watch = Stopwatch(lambda: next(ticks))
    fit = watch.timed("Filter", "NodeResourcesFit", lambda rows: rows + 1)
    watch.is_on = False

    assert fit(1) == 2

    assert watch.drain() == {}
    assert next(ticks) == 0
