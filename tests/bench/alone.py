"""Creates and reads a long session in this process, without server, workers and Redis. Figures are CPU time."""

from __future__ import annotations

import os
import random
import statistics
import time
from pathlib import Path
from typing import Any

from tests.bench.report import Figure

#: Jumps before the measurement, which load modules that are imported late.
_WARM_UP = 5


def jumps(data: Path, *, steps: list[dict[str, Any]], generated: dict[str, Any], cycles: int, count: int) -> list[Figure]:
    """Measure jumps in the session of a folder, which is created if it does not exist."""
    data.mkdir(parents=True, exist_ok=True)
    os.environ |= {"SCHEDVIZ_DATA": str(data), "DJANGO_SETTINGS_MODULE": "schedviz.settings", "SCHEDVIZ_REDIS_URL": "redis://127.0.0.1:1/0"}
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    settings.ALLOWED_HOSTS = ["testserver"]
    call_command("migrate", verbosity=0)
    from schedviz.sessions.models import Session

    began = time.process_time()
    if not Session.objects.exists():
        _make(steps, generated, cycles)
    made = time.process_time() - began
    session = Session.objects.get()
    return [*_jumps(session, count), Figure(f"making its {session.cycle:,} cycles, with the import", f"{made:.0f} s")]


def _make(steps: list[dict[str, Any]], generated: dict[str, Any], cycles: int) -> None:
    from django.contrib.auth.models import User

    from schedviz.sessions.commands import inbox
    from schedviz.sessions.hosting import worker_loop
    from schedviz.sessions.models import Session
    from schedviz.sessions.transfer import create, import_job
    from schedviz.trace.commands import convert_command

    owner = User.objects.create_user("bench")
    source = create.Generate(generated) if generated else create.Trace({"format": "schedviz-trace/1", "name": "jumps", "steps": steps})
    made = create.create_session(owner, "jumps", source)
    import_job.run_import(made.pk)
    if generated:
        inbox.accept(made.pk, convert_command({"op": "run", "max": cycles}), "run")
    while True:
        worker_loop.host_session(made.pk, linger_seconds=0)
        now = Session.objects.get(pk=made.pk)
        assert now.status != Session.Status.FAILED, now.message
        if now.applied_seq == now.last_seq:
            return


def _jumps(session: Any, count: int) -> list[Figure]:
    from rest_framework.test import APIClient

    client = APIClient()
    client.force_login(session.owner)
    base = f"/api/v1/sessions/{session.pk}/"
    chosen = random.Random(1)
    taken: list[float] = []
    sizes: list[int] = []
    for number in range(-_WARM_UP, count):
        cycle = chosen.randint(1, session.cycle)
        began = time.process_time()
        summary = client.get(f"{base}cycles/{cycle}/", {"detail": "0"}).json()
        view = client.get(f"{base}view/", {"at": summary["firstEvent"]})
        if number < 0:
            continue
        taken.append((time.process_time() - began) * 1000)
        sizes.append(len(view.content))
        assert view.json()["event"] == summary["firstEvent"]
    cuts = statistics.quantiles(taken, n=100)
    shown = f"{cuts[49]:.0f} / {cuts[98]:.0f} / {max(taken):.0f} ms"
    return [
        Figure(f"jump to one of {session.cycle:,} cycles, processor time (p50 / p99 / longest of {count})", shown),
        Figure("the view that it gives, JSON", f"{statistics.median(sizes) / 1000:.0f} kB"),
    ]
