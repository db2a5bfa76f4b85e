"""A Celery worker's process without Celery's command line, which takes half a second to import: `… worker NAME QUEUE POOL SIZE`.

The same as the commands in `schedviz.celery.WORKER_COMMANDS`, with the name NAME.
"""

from __future__ import annotations

import sys

from django.conf import settings

from schedviz.celery import app


def main(name: str, queue: str, pool: str, size: str) -> int:
    """Work until SIGTERM; returns the exit code."""
    processes = int(size)
    if queue == "io" and settings.PUBLIC_DEMO:
        # While visitors import and ask, others are served.
        processes = max(processes, settings.DEMO_IMPORTS + 2)
    worker = app.Worker(
        hostname=f"{name}@schedviz",
        queues=[queue],
        pool_cls=pool,
        concurrency=processes,
        loglevel="WARNING",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
    )
    worker.start()
    return int(worker.exitcode or 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:5]))
