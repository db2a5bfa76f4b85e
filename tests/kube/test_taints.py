"""Taints as text. Upstream: api/core/v1/taint_test.go"""

from __future__ import annotations

import pytest

from schedviz.kube.core import Taint


@pytest.mark.parametrize(
    ("taint", "text"),
    [
        (Taint(key="dedicated", value="gpu", effect="NoSchedule"), "dedicated=gpu:NoSchedule"),
        (Taint(key="dedicated", effect="NoExecute"), "dedicated:NoExecute"),
        (Taint(key="dedicated", value="gpu"), "dedicated=gpu:"),
        (Taint(key="dedicated"), "dedicated"),
    ],
)
def test_a_taint_is_written_without_its_empty_parts(taint: Taint, text: str) -> None:
    assert taint.to_string() == text
