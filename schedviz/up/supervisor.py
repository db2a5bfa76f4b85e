"""Starts the children, restarts crashed ones, and stops all of them in order.

One thread with one selector: signals, lines of the housekeeper and responses of /healthz wake it.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from schedviz.up import parent_death, programs
from schedviz.up.address import ServerAddress
from schedviz.up.child import Child, Program
from schedviz.up.database_file import DatabaseFileWatch
from schedviz.up.disk import DiskWatch
from schedviz.up.errors import CannotStart
from schedviz.up.health import HealthProbe
from schedviz.up.logs import LogTail, last_lines
from schedviz.up.signals import Signals
from schedviz.up.terminal import Terminal

#: A child that ends this often before everything was up, with whichever exit code, cannot start.
MAX_ENDS_BEFORE_READY = 4
_ROUND_SECONDS = 1.0
_IMPATIENT_SECONDS = 15.0


class Supervisor:
    """The children of one data folder. `run` returns when all have ended."""

    def __init__(self, *, data: Path, folder: Path, environment: dict[str, str], server_address: ServerAddress, terminal: Terminal) -> None:
        self._logs = data / "logs"
        self._logs.mkdir(mode=0o700, exist_ok=True)
        self._environment = environment
        self._owner = programs.owner_of(data)
        #: The prefix of lease owners in this run.
        self._run = f"{self._owner}.{os.getpid()}"
        self._terminal = terminal
        self._selector = selectors.DefaultSelector()
        self._signals = Signals(self._selector)
        self._watcher = parent_death.Watcher(folder)
        self._bind_to_parent = parent_death.bind_to_parent(os.getpid())
        self._health = HealthProbe(server_address, self._selector)
        self._disk = DiskWatch(data)
        self._database_file = DatabaseFileWatch(programs.sqlite_path(data, environment))
        #: By name, in starting order.
        self._children: dict[str, Child] = {}
        self._tails: dict[str, LogTail] = {}
        self._after_database: list[Program] = []
        self._read_buffer = b""
        #: Ended owners (name prefixes) whose leases are not released yet -> the cause, `dead` or `killed`: the housekeeper's command.
        self._unreleased_owners: dict[str, str] = {}
        #: The database was ready once. If it is unreachable later, it will return.
        self._had_database = False
        #: Everything was up once.
        self._was_up = False
        #: The login link was printed.
        self._announced = False
        self._began = time.monotonic()
        self._impatient_at = self._began + _IMPATIENT_SECONDS

    def run(self, first: list[Program], after_database: list[Program]) -> None:
        """Start `first` immediately, and the others once the database is ready. Raises `CannotStart` if they do not start."""
        try:
            with self._signals:
                try:
                    self._after_database = after_database
                    self._add(first)
                    self._start_what_is_due()
                    # This process has the lock of the data folder, so the lease owners of earlier runs have ended.
                    self._release_leases_of(f"{self._owner} {self._run}", "dead")
                    while not self._signals.stops:
                        self._start_what_is_due()
                        self._wait()
                        self._reap_exited_children()
                        self._poll_health()
                        self._report_problems()
                        self._watcher.restart_if_dead()
                finally:
                    self._stop_all()
        finally:
            self._watcher.close()
            self._selector.close()

    # --- Main loop

    def _add(self, new: list[Program]) -> None:
        for program in new:
            log = self._logs / f"{program.name}.log"
            self._tails[program.name] = LogTail(log)
            self._children[program.name] = Child(program, log)

    def _start_what_is_due(self) -> None:
        now = time.monotonic()
        for child in self._children.values():
            if child.due is not None and child.due <= now:
                environment = {**self._environment, "SCHEDVIZ_OWNER": self._owner_name(child, child.generation + 1)}
                self._watcher.watch(child.start(environment, self._bind_to_parent))
                if child.stdout is not None:
                    self._listen_to(child)
                if self._had_database:
                    self._announce_database(child)

    def _wait(self) -> None:
        """Wait for an event, or until a child is due for a restart."""
        now = time.monotonic()
        dues = [child.due - now for child in self._children.values() if child.due is not None]
        longest = _ROUND_SECONDS if self._announced else 0.05
        for key, _ in self._selector.select(max(0.0, min([longest, *dues]))):
            on_ready: Callable[[], None] = key.data
            on_ready()

    def _reap_exited_children(self) -> None:
        for child in self._children.values():
            pid = child.pid
            # Asked once: an end between two questions would close the pipe while it is registered.
            if pid is None or not child.exited:
                continue
            if (pipe := child.stdout) is not None:
                self._read_lines(child)
                self._selector.unregister(pipe)
            code = child.reap(is_starting=not self._was_up)
            assert code is not None, "it has exited"
            self._watcher.forget(pid)
            if child.name != "housekeeper":
                # Its leases would otherwise last some seconds longer.
                self._release_leases_of(self._owner_name(child, child.generation), "dead" if child.was_crash else "killed")
            if not self._was_up and child.early_ends >= MAX_ENDS_BEFORE_READY:
                raise CannotStart(f"{child.name} does not start: {_cause(code)}. The end of {child.log}:", *_quoted(child.log))
            self._terminal.report_failure(child.name, f"{_cause(code)}; starting it again. Log: {child.log}")

    def _poll_health(self) -> None:
        if self._was_up:
            return
        self._health.poll()
        if self._health.healthy:
            self._was_up = True
            self._children["housekeeper"].say("login")
        elif time.monotonic() > self._impatient_at:
            self._impatient_at += _IMPATIENT_SECONDS
            self._terminal.still_waiting(self._health.detail, self._logs)
        else:
            self._terminal.progress(self._steps(), time.monotonic() - self._began)

    def _steps(self) -> dict[str, bool]:
        """What has to be up, and whether it is."""
        detail = self._health.detail
        # Every response lists the parts that are down, even if there are none.
        is_responding = "down" in detail or self._was_up
        return {
            "database": self._had_database,
            "web server": is_responding,
            "workers": is_responding and "workers" not in detail.get("down", ()),
        }

    def _report_problems(self) -> None:
        if warning := self._disk.new_warning():
            self._terminal.warn(warning)
        if warning := self._database_file.new_warning():
            self._terminal.warn(warning)
        for name, tail in self._tails.items():
            for line in tail.new_lines():
                self._terminal.report_failure(name, line)

    # --- Housekeeper

    def _owner_name(self, child: Child, generation: int) -> str:
        return f"{self._run}.{child.name}-{generation}"

    def _release_leases_of(self, owner: str, cause: str) -> None:
        """Release the leases of owners with this name prefix now. A crashed housekeeper receives the command after its restart."""
        self._unreleased_owners[owner] = cause
        self._children["housekeeper"].say(f"{cause} {owner}")

    def _listen_to(self, child: Child) -> None:
        assert child.stdout is not None
        self._read_buffer = b""
        os.set_blocking(child.stdout.fileno(), False)
        self._selector.register(child.stdout, selectors.EVENT_READ, lambda: self._read_lines(child))

    def _read_lines(self, child: Child) -> None:
        assert child.stdout is not None
        try:
            self._read_buffer += os.read(child.stdout.fileno(), 65536)
        except BlockingIOError:
            return
        *lines, self._read_buffer = self._read_buffer.split(b"\n")
        for line in lines:
            self._handle(json.loads(line))

    def _handle(self, message: dict[str, Any]) -> None:
        if "failed" in message:
            if not self._had_database:
                raise CannotStart(message["failed"])
            # It ends, and is restarted until the database is reachable again.
            self._terminal.report_failure("housekeeper", message["failed"])
        elif "database" in message:
            self._had_database = True
            for child in self._children.values():
                self._announce_database(child)
            self._add(self._after_database)
            self._after_database = []
        elif "housekeeper" in message:
            self._housekeeper_is_ready()
        elif "cleared" in message:
            self._unreleased_owners.pop(message["cleared"], None)
        elif "login" in message:
            self._announced = True
            self._terminal.announce(message["login"], time.monotonic() - self._began)

    @staticmethod
    def _announce_database(child: Child) -> None:
        if child.program.awaits_database:
            child.say("database")

    def _housekeeper_is_ready(self) -> None:
        """Repeat the commands that the previous housekeeper may not have completed."""
        for owner, cause in self._unreleased_owners.items():
            self._children["housekeeper"].say(f"{cause} {owner}")
        if self._was_up and not self._announced:
            self._children["housekeeper"].say("login")

    # --- Shutdown

    def _stop_all(self) -> None:
        """Stop the web server, then workers, then Redis, so that none misses what it needs. A second Ctrl-C kills the rest."""
        self._health.close()
        self._terminal.stopping()
        stops = self._signals.stops
        by_name = self._children
        redis = [child for name, child in by_name.items() if name == "redis"]
        web = [child for name, child in by_name.items() if name == "web"]
        others = [child for name, child in by_name.items() if name not in {"redis", "web"}]
        left_over = 0.0
        for group in (web, others, redis):
            for child in group:
                child.terminate()
            # Time that one group does not use is left for the next.
            started = time.monotonic()
            self._await_end(group, started + left_over, impatient=lambda: self._signals.stops > max(stops, 1))
            longest = max((child.program.grace_seconds for child in group), default=0.0)
            left_over = max(0.0, left_over + longest - (time.monotonic() - started))

    def _await_end(self, group: list[Child], since: float, *, impatient: Callable[[], bool]) -> None:
        """Wait until all have ended, or their grace periods, counted from `since`, are over."""
        running = {child.pid: child for child in group if child.pid is not None}
        while running:
            for pid, child in list(running.items()):
                if impatient() or time.monotonic() > since + child.program.grace_seconds:
                    child.kill_group()
                if child.reap() is not None:
                    child.due = None
                    self._watcher.forget(pid)
                    del running[pid]
            if running:
                # Only signals matter now: the end of a child, or a second Ctrl-C.
                self._signals.wait(0.1)


def _cause(code: int) -> str:
    if code >= 0:
        return f"ended with {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def _quoted(log: Path) -> list[str]:
    return [f"    {line}" for line in last_lines(log)]
