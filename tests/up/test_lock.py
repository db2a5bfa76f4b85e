"""One supervisor per data folder."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

import pytest

from schedviz.up.errors import CannotStart
from schedviz.up.lock import DataLock, url_of_holder


def test_a_second_lock_is_refused_with_the_pid_and_the_address_of_the_first(tmp_path: Path):
    first = DataLock(tmp_path)
    first.name_holder("http://127.0.0.1:1234")

    with pytest.raises(CannotStart, match=rf"already running .*: pid {os.getpid()}, http://127.0.0.1:1234\."):
        DataLock(tmp_path)

    first.release()


def test_a_second_lock_is_refused_before_the_first_has_written_its_pid(tmp_path: Path):
    first = DataLock(tmp_path)

    with pytest.raises(CannotStart, match="already running"):
        DataLock(tmp_path)

    first.release()


def test_a_released_lock_can_be_taken(tmp_path: Path):
    DataLock(tmp_path).release()

    DataLock(tmp_path).release()


def test_the_lock_file_of_a_crashed_process_is_taken_over(tmp_path: Path):
    (tmp_path / "lock").write_text('{"pid": 1, "url": "http://long-gone"}')

    DataLock(tmp_path).release()


def test_a_probe_for_the_holder_does_not_refuse_a_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    DataLock(tmp_path).release()
    probe = os.open(tmp_path / "lock", os.O_RDWR)
    fcntl.flock(probe, fcntl.LOCK_SH)
    monkeypatch.setattr(time, "sleep", lambda _seconds: os.close(probe))

    DataLock(tmp_path).release()


def test_a_probe_for_the_holder_does_not_refuse_other_probes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    DataLock(tmp_path).release()
    flock, urls = fcntl.flock, []

    def flock_and_probe(descriptor: int, operation: int) -> None:
        flock(descriptor, operation)
        monkeypatch.undo()
        # A refused probe would name this holder.
        (tmp_path / "lock").write_text('{"pid": 1, "url": "http://long-gone"}')
        urls.append(url_of_holder(tmp_path))

    monkeypatch.setattr(fcntl, "flock", flock_and_probe)

    assert url_of_holder(tmp_path) is None
    assert urls == [None]


def test_the_address_of_the_holder_is_known_while_it_runs(tmp_path: Path):
    assert url_of_holder(tmp_path) is None
    lock = DataLock(tmp_path)
    assert url_of_holder(tmp_path) is None
    lock.name_holder("http://127.0.0.1:1234")

    assert url_of_holder(tmp_path) == "http://127.0.0.1:1234"

    lock.release()
    assert url_of_holder(tmp_path) is None
