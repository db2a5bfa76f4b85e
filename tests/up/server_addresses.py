"""The `ServerAddress` of a listener on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedviz.up import ports
from schedviz.up.address import ServerAddress, server_address
from schedviz.up.options import UpOptions


def address_on(host: str, **options: object) -> ServerAddress:
    with ports.listen(host, 0) as listener:
        return server_address(UpOptions(data=Path(), host=host, **options), listener)  # type: ignore[arg-type]


def own_address() -> str:
    """An address of this machine that other machines can reach."""
    found = address_on("0.0.0.0").connect_to[0]
    if found.startswith("127."):
        pytest.skip("this machine is in no network")
    return found
