"""The Celery application, with two queues of wake-ups: threads that host engines serve `engine`, processes with limits serve `io`.

celery -A schedviz worker -Q engine -P threads -c 64 --without-gossip --without-mingle
celery -A schedviz worker -Q io -P prefork -c 1 --without-gossip --without-mingle
"""

from __future__ import annotations

import os
import sys
from typing import Any

from celery import Celery
from celery.signals import setup_logging, worker_init, worker_process_init, worker_ready, worker_shutting_down
from kombu import Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")

app = Celery("schedviz")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.update(
    accept_content=["json"],
    task_serializer="json",
    task_ignore_result=True,
    # Late acknowledgement makes the Redis broker start a long task twice; a task that is lost is rung again by the sweeper.
    task_acks_late=False,
    task_queues=[Queue("engine"), Queue("io")],
    task_default_queue="engine",
    task_publish_retry=False,
    worker_prefetch_multiplier=1,
    worker_consumer="schedviz.sessions.workers.celery_consumer:FastReconnectConsumer",
    # Else it would fetch fewer turns for a while after Redis came back.
    worker_enable_prefetch_count_reduction=False,
    # Nothing is acknowledged late, so nothing is cancelled; unsaid, each loss of Redis brings a warning of ten lines.
    worker_cancel_long_running_tasks_on_connection_loss=True,
    worker_enable_remote_control=True,
    imports=["schedviz.sessions.tasks"],
)


@worker_init.connect
def _share_the_interpreter(**_: Any) -> None:
    # With the usual 5 ms a command beside four busy sessions waits 48 ms (p50), with this 8 ms.
    sys.setswitchinterval(0.0005)


@worker_init.connect
def _load_what_tasks_need(**_: Any) -> None:
    """The first who comes does not wait for imports, and the processes of a pool share what was there before they were forked."""
    import faulthandler

    import django
    import numpy.ma  # noqa: F401 (NumPy loads it when it first looks for distinct values)

    # Where a crash in C code was is in the log then. Not `sys.stderr`: Celery puts a logger in its place.
    faulthandler.enable(sys.__stderr__ or sys.stderr)
    django.setup()

    from schedviz.kube.collector import keep_what_is_loaded
    from schedviz.kube.struct_infos import prepare_structs
    from schedviz.sessions.hosting import worker_loop  # noqa: F401

    prepare_structs()
    keep_what_is_loaded()


@worker_ready.connect
def _say_that_it_is_alive(sender: Any, **_: Any) -> None:
    from django.conf import settings

    from schedviz.sessions import tracing
    from schedviz.sessions.hosting.slots import SLOTS
    from schedviz.sessions.metrics import process, reporting
    from schedviz.sessions.redis import heartbeat

    SLOTS.total = sender.pool.limit
    process.SLOTS.set(SLOTS.total)
    process.SLOTS_TAKEN.set_function(lambda: SLOTS.taken)
    reporting.begin(settings.ROLE)
    if settings.TRACES:
        tracing.begin(settings.ROLE)
    heartbeat.begin(str(sender.hostname), sender.app.amqp.queues.consume_from)


@worker_process_init.connect
def _limit_memory(**_: Any) -> None:
    """In the processes of an io worker alone: an import that needs too much gets a MemoryError, and says so."""
    import resource

    from django.conf import settings

    hardest = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (settings.IMPORT_MEGABYTES << 20, hardest))


@worker_process_init.connect
def _report_from_the_pool(**_: Any) -> None:
    """Each process of a pool measures itself: its parent knows nothing of what it does."""
    from django.conf import settings

    from schedviz.sessions.metrics import reporting

    reporting.begin(settings.ROLE)


@worker_shutting_down.connect
def _ask_turns_to_leave(**_: Any) -> None:
    from schedviz.sessions.hosting.slots import STOPPING

    STOPPING.set()


@setup_logging.connect
def _keep_the_logging_of_settings(**_: Any) -> None:
    """Celery would configure logging by itself; Django has done so."""
