"""What the start of a worker imports."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.conftest import ROOT

#: As `celery worker` starts, up to its connection to the broker.
START = """
import sys
from celery.fixups.django import DjangoWorkerFixup
from celery.signals import worker_init
from schedviz.celery import app
app.loader.import_default_modules()
DjangoWorkerFixup(app).validate_models()
worker_init.send(sender=type("Worker", (), {"hostname": "io@tests", "concurrency": 3})())
print([name for name in ("schedviz.engine", "schedviz.urls", "schedviz.web.api.urls") if name in sys.modules])
from schedviz.sessions.analysis.analysis_turns import WORKER
print(WORKER.name, WORKER.long_places)
"""


def test_a_worker_imports_the_engine_and_not_the_url_configuration_and_keeps_a_process_free() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "CELERY_SKIP_CHECKS"}
    done = subprocess.run([sys.executable, "-c", START], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)

    assert done.stdout.splitlines() == ["['schedviz.engine']", "io@tests 2"]
