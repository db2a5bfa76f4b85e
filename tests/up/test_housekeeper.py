"""The housekeeper migrates the database, and releases the leases of ended processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder

from schedviz.sessions.experiments import trial_lease
from schedviz.sessions.hosting import lease, sweep
from schedviz.up import housekeeper


def test_owners_whose_release_fails_do_not_delay_the_others(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    released: list[tuple[str, str, bool]] = []
    failing = {"up-1.engine-1"}

    def clear_owner(prefix: str, *, but: str = "", killed_externally: bool = False) -> None:
        if prefix in failing:
            raise DatabaseError("it is locked")
        released.append((prefix, but, killed_externally))

    monkeypatch.setattr(lease, "clear_owner", clear_owner)
    monkeypatch.setattr(trial_lease, "clear_owner", clear_owner)
    monkeypatch.setattr(sweep, "sweep", lambda *, force: None)
    ended = {"up-1.engine-1": "dead", "up-1.io-1": "killed", "up-1 up-1.7": "dead"}

    housekeeper._release_leases(ended)

    assert ended == {"up-1.engine-1": "dead"}
    assert released == [("up-1.io-1", "", True)] * 2 + [("up-1", "up-1.7", False)] * 2
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [{"cleared": "up-1.io-1"}, {"cleared": "up-1 up-1.7"}]

    failing.clear()
    housekeeper._release_leases(ended)
    assert not ended


@pytest.mark.django_db
def test_a_token_that_is_not_text_is_replaced(settings: LazySettings, tmp_path: Path) -> None:
    settings.DATA = tmp_path
    token = tmp_path / "token"
    token.write_bytes(b"\xff" * 64)

    housekeeper._keep_token()
    stored = token.read_text()
    assert len(stored) > 20
    housekeeper._keep_token()
    assert token.read_text() == stored


@pytest.mark.django_db
def test_a_folder_in_place_of_the_token_is_named(
    settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.DATA = tmp_path
    (tmp_path / "token").mkdir()
    monkeypatch.setattr(housekeeper, "_migrate", lambda: None)

    assert housekeeper.main("http://127.0.0.1:1") == housekeeper.EXIT_MISCONFIGURED
    (report,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert str(tmp_path / "token") in report["failed"]
    assert "Remove it" in report["failed"]


@pytest.mark.django_db
def test_a_database_of_a_newer_version_is_refused() -> None:
    applied = MigrationRecorder(connection)
    # One that a squashed migration has replaced is of an older version.
    applied.record_applied("scheduling", "0003_older")
    housekeeper._migrate()
    applied.record_applied("scheduling", "9999_newer")

    with pytest.raises(housekeeper._NewerDatabaseError, match=r"scheduling\.9999_newer"):
        housekeeper._migrate()
