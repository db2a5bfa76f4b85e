"""Sessions that follow a cluster judge its scheduler: each pod, and how many bindings came to which verdict."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0009_scheduler_figures")]

    operations = [
        migrations.CreateModel(
            name="Agreement",
            fields=[
                (
                    "session",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="agreement",
                        serialize=False,
                        to="scheduling.session",
                    ),
                ),
                ("agrees", models.BigIntegerField(default=0)),
                ("not_best", models.BigIntegerField(default=0)),
                ("infeasible", models.BigIntegerField(default=0)),
                ("unjudged", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="ShadowedPod",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("pod", models.CharField(max_length=512)),
                ("uid", models.CharField(blank=True, default="", max_length=128)),
                ("arrived_event", models.BigIntegerField(blank=True, null=True)),
                ("arrival", models.JSONField(blank=True, null=True)),
                ("bound_event", models.BigIntegerField(blank=True, null=True)),
                ("node", models.CharField(blank=True, default="", max_length=253)),
                ("verdict", models.CharField(blank=True, default="", max_length=16)),
                ("judgement", models.JSONField(blank=True, null=True)),
                (
                    "session",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="shadowed", to="scheduling.session"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["session", "-bound_event"], name="shadowed_newest"),
                    models.Index(fields=["session", "verdict", "-bound_event"], name="shadowed_of_verdict"),
                ],
                "constraints": [models.UniqueConstraint(fields=("session", "pod", "uid"), name="shadowed_once")],
            },
        ),
    ]
