"""Every reason that a default plugin gives is explained."""

from __future__ import annotations

import re
from pathlib import Path

import schedviz.engine.framework.plugins
from schedviz.explain.reasons import meaning_of

_PLUGINS = Path(schedviz.engine.framework.plugins.__path__[0])
#: Reasons as they are written in the plugins: those that begin with "node(s)".
_WRITTEN = re.compile(r"\"(node\(s\)[^\"{]*)\"")


def test_every_reason_of_the_plugins_has_a_meaning() -> None:
    reasons = {reason for path in _PLUGINS.rglob("*.py") for reason in _WRITTEN.findall(path.read_text())}
    assert len(reasons) > 10
    unexplained = sorted(reason for reason in reasons if meaning_of(reason) is None and "unknown conditions" not in reason)
    assert unexplained == []


def test_what_is_missing_is_named() -> None:
    meaning = meaning_of("Insufficient nvidia.com/gpu")
    assert meaning is not None
    assert "allocatable nvidia.com/gpu" in meaning.sentence
