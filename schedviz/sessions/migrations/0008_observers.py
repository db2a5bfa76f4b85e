"""Sessions that follow a real cluster: who pushes, and what it saw last."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0007_packed_history")]

    operations = [
        migrations.CreateModel(
            name="Observer",
            fields=[
                (
                    "session",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="observer",
                        serialize=False,
                        to="scheduling.session",
                    ),
                ),
                ("source", models.CharField(max_length=100)),
                ("n", models.BigIntegerField(default=0)),
                ("digest", models.CharField(blank=True, default="", max_length=64)),
                ("events", models.BigIntegerField(default=0)),
                ("last_seq", models.BigIntegerField(default=0)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("pushed_at", models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Observed",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=63)),
                ("key", models.CharField(max_length=512)),
                ("uid", models.CharField(blank=True, default="", max_length=128)),
                ("version", models.CharField(blank=True, default="", max_length=64)),
                ("terminating", models.BooleanField(default=False)),
                (
                    "session",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="observed", to="scheduling.session"),
                ),
            ],
        ),
        migrations.AddConstraint(
            "observed", models.UniqueConstraint(fields=("session", "kind", "key"), name="observed_once")
        ),
    ]
