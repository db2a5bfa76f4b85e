"""The Celery application, with three queues: threads that host engines serve `engine`, processes with limits serve `io`, and processes of
low priority serve `experiments`.

All options that do not depend on the environment are set here; the broker's are in the settings (`CELERY_BROKER_…`).
"""

from __future__ import annotations

import os
from typing import Any, Final

from celery import Celery
from celery.signals import setup_logging
from kombu import Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")
# Django's checks import the whole web package. The tests run them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

#: The command that starts a worker, by queue. Compose, the chart, the systemd units and `schedviz up` use the same pools and sizes.
WORKER_COMMANDS: Final = {
    "engine": "celery -A schedviz.celery worker -Q engine -P threads -c 64 --without-gossip --without-mingle",
    "io": "celery -A schedviz.celery worker -Q io -P prefork -c 2 --without-gossip --without-mingle",
    "experiments": "celery -A schedviz.celery worker -Q experiments -P prefork -c 2 --without-gossip --without-mingle",
}

app = Celery("schedviz", task_cls="schedviz.sessions.workers.guarded_task:GuardedTask")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.update(
    accept_content=["json"],
    task_serializer="json",
    task_ignore_result=True,
    # With late acknowledgement, the Redis broker would start a long task twice. The sweeper enqueues lost tasks again.
    task_acks_late=False,
    task_queues=[Queue("engine"), Queue("io"), Queue("experiments")],
    task_default_queue="engine",
    task_publish_retry=False,
    worker_prefetch_multiplier=1,
    worker_consumer="schedviz.sessions.workers.celery_consumer:FastReconnectConsumer",
    # Otherwise a worker fetches fewer tasks for a while after Redis is back.
    worker_enable_prefetch_count_reduction=False,
    # No task is acknowledged late, so none is cancelled. Unless this is set, each loss of Redis logs a warning of ten lines.
    worker_cancel_long_running_tasks_on_connection_loss=True,
    worker_enable_remote_control=True,
    worker_hijack_root_logger=False,
    # Only workers import them, before they connect.
    imports=["schedviz.sessions.tasks", "schedviz.sessions.workers.task_signals", "schedviz.sessions.workers.worker_signals"],
)


@setup_logging.connect
def _keep_the_logging_of_settings(**_: Any) -> None:
    """Do nothing: Django has configured logging, and Celery configures it only where this signal has no receiver."""
