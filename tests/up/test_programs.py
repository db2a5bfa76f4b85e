"""The environment of the children of `schedviz up`."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedviz.up.programs import shared_environment
from tests.up.server_addresses import address_on


@pytest.mark.parametrize(("listen", "limit"), [("127.0.0.1", "0"), ("0.0.0.0", None)])
def test_only_a_server_of_one_user_has_no_limit_of_analyses(
    listen: str, limit: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SCHEDVIZ_URL", raising=False)
    monkeypatch.delenv("SCHEDVIZ_ANALYSES_PER_USER", raising=False)
    address = address_on(listen)

    assert shared_environment(tmp_path, "redis://localhost", address).get("SCHEDVIZ_ANALYSES_PER_USER") == limit

    monkeypatch.setenv("SCHEDVIZ_ANALYSES_PER_USER", "3")
    assert shared_environment(tmp_path, "redis://localhost", address)["SCHEDVIZ_ANALYSES_PER_USER"] == "3"


@pytest.mark.parametrize("setting", ["SCHEDVIZ_PUBLIC", "SCHEDVIZ_PUBLIC_DEMO", "SCHEDVIZ_PROXIES"])
def test_a_server_behind_a_proxy_of_this_machine_has_the_limits_of_many_users(
    setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SCHEDVIZ_URL", raising=False)
    monkeypatch.delenv("SCHEDVIZ_ANALYSES_PER_USER", raising=False)
    monkeypatch.setenv(setting, "1")

    assert "SCHEDVIZ_ANALYSES_PER_USER" not in shared_environment(tmp_path, "redis://localhost", address_on("127.0.0.1"))
