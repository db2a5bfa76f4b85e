"""`manage.py sweep`: runs the sweeper as a separate process. One is enough for any number of workers; a second does no harm."""

from __future__ import annotations

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from schedviz.sessions.hosting import sweep
from schedviz.sessions.metrics import process_reports


class Command(BaseCommand):
    # System checks import the whole web package.
    requires_system_checks = ()
    help = "Wake workers for sessions that have work and no live owner, at an interval, until stopped."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--seconds", type=float, default=sweep.SWEEP_SECONDS, help="interval between sweeps (default: %(default)s)")

    def handle(self, *_: Any, **options: Any) -> None:
        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        process_reports.start_reporting("sweeper")
        sweep.sweep_until(stopped, seconds=options["seconds"])
