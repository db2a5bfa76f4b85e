"""The page says in words why batching does not reuse nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

import frontend
from schedviz.engine.framework.runtime.batch import FlushReason

MESSAGES = Path(frontend.__file__).parent / "src/i18n/messages"


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_each_reason_has_a_message(language: str) -> None:
    messages = json.loads((MESSAGES / f"{language}.v136.json").read_text("utf-8"))
    prefix = "facts.batch.flush."
    assert {key.removeprefix(prefix) for key in messages if key.startswith(prefix)} == set(get_args(FlushReason))
