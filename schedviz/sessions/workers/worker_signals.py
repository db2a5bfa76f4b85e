"""Celery's worker signals: a worker loads what tasks need, reports its health and its metrics, and releases its engines when it stops."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from typing import Any

from celery.signals import worker_init, worker_process_init, worker_ready, worker_shutting_down

#: Added to the niceness of processes that run trials.
_NICENESS = 19


@worker_init.connect
def _shorten_the_switch_interval(**_: Any) -> None:
    # With the default of 5 ms, a command beside four busy sessions waits 48 ms (p50); with this interval, 8 ms.
    sys.setswitchinterval(0.0005)


@worker_init.connect
def _load_what_tasks_need(**_: Any) -> None:
    """Import modules now: the first task does not wait for imports, and the processes of a pool share the memory of their parent."""
    import django
    import numpy.ma  # noqa: F401 (NumPy imports it when it first looks for distinct values)

    # A crash in C code writes its position to the log. Not `sys.stderr`: Celery replaces it by a logger.
    faulthandler.enable(sys.__stderr__ or sys.stderr)
    django.setup()

    from schedviz.kube.gc_tuning import freeze_loaded_objects
    from schedviz.kube.struct_infos import prepare_structs
    from schedviz.sessions.hosting import worker_loop  # noqa: F401

    prepare_structs()
    freeze_loaded_objects()


@worker_init.connect
def _leave_a_process_free(sender: Any, **_: Any) -> None:
    from schedviz.sessions.analysis import analysis_turns

    # Its processes, which start later, inherit it. Celery computes `auto` later.
    processes = sender.concurrency if isinstance(sender.concurrency, int) else os.cpu_count() or 1
    analysis_turns.serve(str(sender.hostname), processes)


@worker_ready.connect
def _begin_threads(sender: Any, **_: Any) -> None:
    from django.conf import settings

    from schedviz.sessions import tracing
    from schedviz.sessions.hosting.engine_memory import MEMORY
    from schedviz.sessions.hosting.slots import SLOTS
    from schedviz.sessions.metrics import process, process_reports
    from schedviz.sessions.redis import heartbeat, stream
    from schedviz.sessions.transfer import settings_validation_thread, validation

    SLOTS.total = sender.pool.limit
    process.SLOTS.set(SLOTS.total)
    process.SLOTS_TAKEN.set_function(lambda: SLOTS.taken)
    process_reports.start_reporting(settings.ROLE)
    if settings.TRACES:
        tracing.start_exporting(settings.ROLE)
    queues = [*sender.app.amqp.queues.consume_from]
    if stream.ENGINE_QUEUE in queues:
        settings_validation_thread.start()
        MEMORY.restart = lambda: os.kill(os.getpid(), signal.SIGTERM)
        queues.append(validation.QUEUE)
    heartbeat.start(str(sender.hostname), queues)


@worker_process_init.connect
def _limit_memory(**_: Any) -> None:
    """Limit the memory of the processes of an io or experiments worker: a job that needs more gets a MemoryError, and reports that."""
    import resource

    from django.conf import settings

    hardest = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (settings.IMPORT_MEGABYTES << 20, hardest))


@worker_process_init.connect
def _yield_to_sessions(**_: Any) -> None:
    """Run trials with the lowest priority, so that they take the processor time that interactive sessions leave."""
    from django.conf import settings

    if settings.ROLE == "experiments":
        os.nice(_NICENESS)


@worker_process_init.connect
def _report_from_the_pool(**_: Any) -> None:
    """Report the metrics of each process of a pool, because the parent process does not measure their work."""
    from django.conf import settings

    from schedviz.sessions.metrics import process_reports

    process_reports.start_reporting(settings.ROLE)


@worker_shutting_down.connect
def _release_engines(**_: Any) -> None:
    from schedviz.sessions.hosting.slots import STOPPING

    STOPPING.set()
