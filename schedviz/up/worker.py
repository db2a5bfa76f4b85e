"""A Celery worker's process without Celery's command line, which takes half a second to import: `… worker NAME QUEUE POOL SIZE`.

The same as the commands in `schedviz.celery.WORKER_COMMANDS`, with the name NAME.
"""

from __future__ import annotations

import sys

from schedviz.celery import app


def main(name: str, queue: str, pool: str, size: str) -> int:
    """Work until SIGTERM; returns the exit code."""
    worker = app.Worker(
        hostname=f"{name}@schedviz",
        queues=[queue],
        pool_cls=pool,
        concurrency=int(size),
        loglevel="WARNING",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
    )
    worker.start()
    return int(worker.exitcode or 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:5]))
