"""Summaries of cycles in packed groups; what is stored of a session is counted; a checkpoint may be a view alone."""

from itertools import groupby

import django.db.models.deletion
import msgspec
import zstandard
from django.db import migrations, models
from django.db.models import Sum
from django.db.models.functions import Length

_TOGETHER = 64


def group_summaries(apps, schema_editor):
    old, new = apps.get_model("scheduling", "CycleSummary"), apps.get_model("scheduling", "CycleGroup")
    rows = old.objects.order_by("session_id", "cycle").iterator(chunk_size=500)
    for session_id, cycles in groupby(rows, key=lambda row: row.session_id):
        for _, some in groupby(cycles, key=lambda row: row.cycle // _TOGETHER):
            group = list(some)
            summaries = [
                {"cycle": msgspec.Raw(bytes(row.data)), "first_event": row.first_event or 0, "last_event": row.last_event or 0}
                for row in group
            ]
            new.objects.create(
                session_id=session_id,
                first_cycle=group[0].cycle,
                last_cycle=group[-1].cycle,
                last_event=group[-1].last_event or 0,
                data=zstandard.compress(msgspec.json.encode(summaries), level=1),
            )


def count_bytes(apps, schema_editor):
    models_of = lambda name: apps.get_model("scheduling", name).objects
    for session in models_of("Session").all():
        sizes = [
            models_of(name).filter(session=session).aggregate(bytes=Sum(Length("data")))["bytes"] or 0 for name in ("Chunk", "CycleGroup")
        ]
        levels = models_of("ChunkTally").filter(session=session).order_by("-number").values("nodes", "pods").first() or {}
        models_of("Session").filter(pk=session.pk).update(history_bytes=sum(sizes), **levels)
    for checkpoint in models_of("Checkpoint").all():
        sizes = dict(
            models_of("CheckpointPiece").filter(checkpoint=checkpoint).order_by().values_list("part").annotate(bytes=Sum(Length("data")))
        )
        models_of("Checkpoint").filter(pk=checkpoint.pk).update(
            engine_bytes=sizes.get("engine", 0), view_bytes=sizes.get("view", 0)
        )


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0006_tries")]

    operations = [
        migrations.AddField("session", "history_bytes", models.BigIntegerField(default=0)),
        migrations.AddField("session", "nodes", models.BigIntegerField(default=0)),
        migrations.AddField("session", "pods", models.BigIntegerField(default=0)),
        migrations.AddField("checkpoint", "has_engine", models.BooleanField(default=True)),
        migrations.AddField("checkpoint", "engine_bytes", models.BigIntegerField(default=0)),
        migrations.AddField("checkpoint", "view_bytes", models.BigIntegerField(default=0)),
        migrations.CreateModel(
            name="CycleGroup",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("first_cycle", models.BigIntegerField()),
                ("last_cycle", models.BigIntegerField()),
                ("last_event", models.BigIntegerField()),
                ("data", models.BinaryField()),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="cycle_groups", to="scheduling.session"
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            "cyclegroup", models.UniqueConstraint(fields=("session", "last_cycle"), name="cycle_group_once")
        ),
        migrations.RunPython(group_summaries, migrations.RunPython.noop),
        migrations.RunPython(count_bytes, migrations.RunPython.noop),
        migrations.DeleteModel("CycleSummary"),
    ]
