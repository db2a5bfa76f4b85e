"""The `Reach` of a listener on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedviz.up import ports
from schedviz.up.address import Reach, reach
from schedviz.up.options import UpOptions


def reached(host: str, **options: object) -> Reach:
    with ports.listen(host, 0) as listener:
        return reach(UpOptions(data=Path(), host=host, **options), listener)  # type: ignore[arg-type]


def own_address() -> str:
    """An address of this machine at which others would reach it."""
    found = reached("0.0.0.0").address[0]
    if found.startswith("127."):
        pytest.skip("this machine is in no network")
    return found
