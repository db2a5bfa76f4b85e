"""What was counted of each session's scheduler, for /metrics."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0008_observers")]

    operations = [
        migrations.CreateModel(
            name="SchedulerFigures",
            fields=[
                (
                    "session",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="scheduler_figures",
                        serialize=False,
                        to="scheduling.session",
                    ),
                ),
                ("event", models.BigIntegerField()),
                ("data", models.BinaryField()),
                ("updated_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_index=True)),
            ],
        ),
    ]
