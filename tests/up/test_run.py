"""Clean-up by `schedviz up` after a failed start."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from schedviz.up import redis_server, run
from schedviz.up.errors import CannotStart
from schedviz.up.options import UpOptions


def test_a_failed_start_without_redis_leaves_no_socket_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders: list[Path] = []

    def choose(folder: Path) -> redis_server.RedisChoice:
        assert folder.is_dir()
        folders.append(folder)
        raise CannotStart("No Redis was found.")

    monkeypatch.setattr(redis_server, "choose", choose)
    # These calls would change the test process.
    monkeypatch.setattr(os, "umask", lambda _mask: 0)
    monkeypatch.setattr(run, "_raise_file_limit", lambda: None)
    monkeypatch.delenv("SCHEDVIZ_REDIS_URL", raising=False)

    with pytest.raises(CannotStart, match="No Redis was found"):
        run.run(UpOptions(data=tmp_path / "data", port=0))

    assert folders
    assert not folders[0].exists()
