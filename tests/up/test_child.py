"""A child that ends by itself again and again is started ever later, and given up at the start."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from schedviz.up.child import HEALTHY_AFTER_SECONDS, Child, Program
from tests.conftest import until


@pytest.mark.parametrize(("is_starting", "early_ends"), [(True, [1, 2, 3]), (False, [1, 1, 1])])
def test_a_long_period_before_an_end_is_a_sign_of_health_only_after_the_start(
    tmp_path: Path, *, is_starting: bool, early_ends: list[int]
) -> None:
    child = Child(Program("failing", [sys.executable, "-c", "raise SystemExit(3)"]), tmp_path / "log")
    seen = []
    for _ in early_ends:
        child.start({}, None)
        until(lambda: child.exited)
        child._started -= 2 * HEALTHY_AFTER_SECONDS
        assert child.reap(is_starting=is_starting) == 3
        seen.append(child.early_ends)

    assert seen == early_ends
