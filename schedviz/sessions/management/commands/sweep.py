"""`manage.py sweep`: the sweeper as a process of its own. One is enough for any number of workers; two do no harm."""

from __future__ import annotations

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from schedviz.sessions.hosting import sweep
from schedviz.sessions.metrics import reporting


class Command(BaseCommand):
    help = "Ring for sessions that have work and that no worker is at, every few seconds, until told to stop."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--seconds", type=float, default=sweep.SWEEP_SECONDS, help="how often (default: %(default)s)")

    def handle(self, *_: Any, **options: Any) -> None:
        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        reporting.begin("sweeper")
        sweep.sweep_until(stopped, seconds=options["seconds"])
