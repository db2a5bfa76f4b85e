"""Which deaths of a worker its sessions are suspected of."""

from __future__ import annotations

import signal

import pytest

from schedviz.up import exit_cause


@pytest.mark.parametrize("code", [0, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP])
def test_who_was_asked_to_end_did_not_die_of_its_work(code: int) -> None:
    assert exit_cause.is_external_kill(code, kills_before=None)


@pytest.mark.parametrize("code", [1, 70, -signal.SIGSEGV, -signal.SIGABRT])
def test_a_crash_or_the_watchdog_may_be_its_work(code: int) -> None:
    assert not exit_cause.is_external_kill(code, kills_before=exit_cause.kills_for_memory())


def test_sigkill_is_its_work_if_the_kernel_ran_out_of_memory_meanwhile_or_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exit_cause, "kills_for_memory", lambda: 3)

    assert exit_cause.is_external_kill(-signal.SIGKILL, kills_before=3)
    assert not exit_cause.is_external_kill(-signal.SIGKILL, kills_before=2)
    assert not exit_cause.is_external_kill(-signal.SIGKILL, kills_before=None)
