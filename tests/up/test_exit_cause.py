"""Which exits of a worker are attributed to its sessions."""

from __future__ import annotations

import signal

import pytest

from schedviz.up import exit_cause


@pytest.mark.parametrize("code", [0, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP])
def test_a_requested_exit_is_not_attributed_to_sessions(code: int) -> None:
    assert not exit_cause.is_crash(code, kills_before=None)


@pytest.mark.parametrize("code", [1, 70, -signal.SIGSEGV, -signal.SIGABRT])
def test_a_crash_or_a_watchdog_exit_is_attributed_to_sessions(code: int) -> None:
    assert exit_cause.is_crash(code, kills_before=exit_cause.kills_for_memory())


def test_sigkill_is_attributed_to_sessions_after_an_out_of_memory_kill_or_if_that_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exit_cause, "kills_for_memory", lambda: 3)

    assert not exit_cause.is_crash(-signal.SIGKILL, kills_before=3)
    assert exit_cause.is_crash(-signal.SIGKILL, kills_before=2)
    assert exit_cause.is_crash(-signal.SIGKILL, kills_before=None)
