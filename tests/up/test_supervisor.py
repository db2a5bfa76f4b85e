"""The supervisor over toy children: restarts, the order of a stop, and no remaining processes."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from tests.conftest import until
from tests.up.running import Start, alive

pytestmark = pytest.mark.skipif(os.name != "posix", reason="schedviz up needs Linux or macOS")


def test_the_login_link_is_printed_when_everything_is_up(start_toys: Start):
    running = start_toys("idle")

    running.waits_for("http://toy/login")

    assert running.printed.count("http://toy/login") == 1


def test_ctrl_c_stops_all_children_in_order(start_toys: Start, tmp_path: Path):
    running = start_toys("idle", "parent")
    running.waits_for("http://toy/login")
    until((tmp_path / "parent").exists)
    everybody = running.family()

    running.process.send_signal(signal.SIGINT)

    assert running.process.wait(timeout=30) == 0
    assert len(everybody) >= 6
    until(lambda: not [member for member in everybody if alive(member)])
    assert not list(tmp_path.glob("tmp*")), "the folder of sockets is removed"


def test_a_child_that_does_not_stop_is_killed_after_its_grace_period(start_toys: Start, tmp_path: Path):
    running = start_toys("stubborn")
    running.waits_for("http://toy/login")
    until((tmp_path / "stubborn").exists)
    child = running.child("stubborn")

    began = time.monotonic()
    running.process.send_signal(signal.SIGTERM)
    running.process.wait(timeout=30)

    assert time.monotonic() - began >= 0.5
    assert not alive(child)


def test_a_second_ctrl_c_kills_all_children(start_toys: Start, tmp_path: Path):
    running = start_toys("stubborn")
    running.waits_for("http://toy/login")
    until((tmp_path / "stubborn").exists)
    everybody = running.family()

    running.process.send_signal(signal.SIGINT)
    running.waits_for("Stopping")
    running.process.send_signal(signal.SIGINT)

    assert running.process.wait(timeout=30) == 0
    until(lambda: not [member for member in everybody if alive(member)])


@pytest.mark.parametrize("without_kernel", ["", "1"], ids=["kernel and watcher", "watcher alone"])
def test_killing_the_supervisor_leaves_no_process(start_toys: Start, tmp_path: Path, without_kernel: str):
    running = start_toys("idle", "stubborn", "parent", SCHEDVIZ_NO_PDEATHSIG=without_kernel)
    running.waits_for("http://toy/login")
    until(lambda: (tmp_path / "parent").exists() and (tmp_path / "parent").read_text())
    grandchild = psutil.Process(int((tmp_path / "parent").read_text()))
    everybody = running.family()
    assert grandchild in everybody

    running.process.kill()

    until(lambda: not [member for member in everybody if alive(member)])
    until(lambda: not list(tmp_path.glob("tmp*")))


def test_a_killed_child_is_restarted(start_toys: Start):
    running = start_toys("idle")
    running.waits_for("http://toy/login")
    for name in ("idle", "web", "housekeeper"):
        old = running.child(name)

        old.kill()

        assert alive(running.child_after(old, name))


def test_a_child_that_waits_for_the_database_is_notified_after_a_restart_too(start_toys: Start, tmp_path: Path):
    running = start_toys("awaiting")
    environment_file = tmp_path / "awaiting"
    until(lambda: environment_file.exists() and environment_file.read_text() == "database\n")
    old = running.child("awaiting", str(environment_file))

    old.kill()

    until(lambda: environment_file.read_text() == "database\ndatabase\n")


def test_a_child_that_waits_for_the_database_does_not_start_without_it(start_toys: Start, tmp_path: Path):
    running = start_toys("awaiting", "failing_housekeeper")

    running.waits_for("The database is on holiday.")

    assert running.process.wait(timeout=30) == 1
    assert not (tmp_path / "awaiting").exists()


def test_the_housekeeper_is_notified_of_crashed_workers(start_toys: Start, tmp_path: Path):
    running = start_toys("idle")
    running.waits_for("http://toy/login")

    old = running.child("idle", str(tmp_path / "idle"))
    old.kill()

    heard = tmp_path / "heard"
    until(lambda: f".{running.process.pid}.idle-1\n" in heard.read_text())


def test_a_killed_parent_watcher_is_replaced(start_toys: Start, tmp_path: Path):
    running = start_toys("idle", SCHEDVIZ_NO_PDEATHSIG="1")
    running.waits_for("http://toy/login")
    watcher_script = str(Path("schedviz/up/parent_watcher.py"))
    watcher = next(member for member in running.family() if any(watcher_script in word for word in member.cmdline()))
    watcher.kill()
    until(lambda: [m for m in running.family() if m != watcher and any(watcher_script in word for word in m.cmdline())])
    everybody = running.family()

    running.process.kill()

    until(lambda: not [member for member in everybody if alive(member)])


def test_a_child_that_cannot_start_stops_the_start_with_its_message(start_toys: Start):
    running = start_toys("broken")

    assert running.process.wait(timeout=60) == 1
    assert "cannot start: broken does not start: ended with 7" in running.printed
    assert "it is broken, and says why" in running.printed
    assert not running.family()


def test_a_child_that_exits_early_without_an_error_stops_the_start_with_the_reason(start_toys: Start):
    running = start_toys("returning")

    assert running.process.wait(timeout=60) == 1
    assert "cannot start: returning does not start: ended with 0" in running.printed
    assert "it has nothing to do" in running.printed
    assert not running.family()


def test_an_unusable_database_stops_the_start_with_its_message(start_toys: Start):
    running = start_toys("failing_housekeeper")

    assert running.process.wait(timeout=60) == 1
    assert "cannot start: The database is on holiday." in running.printed


def test_a_database_outage_stops_no_child_and_crashed_workers_are_reported_afterwards(start_toys: Start, tmp_path: Path):
    running = start_toys("unlucky_housekeeper", "idle")
    running.waits_for("http://toy/login")
    web = running.child("web")

    running.child("unlucky_housekeeper").kill()
    running.child("idle", str(tmp_path / "idle")).kill()

    running.waits_for("[housekeeper] The database is on holiday.")
    heard = tmp_path / "heard"
    until(lambda: "told again" in heard.read_text() and f".{running.process.pid}.idle-1\n" in heard.read_text().split("told again")[1])
    assert alive(web)
