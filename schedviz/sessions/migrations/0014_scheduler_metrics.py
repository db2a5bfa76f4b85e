"""The model of a session's metrics has a new name. Its table keeps the old one, so that processes of the older version go on during an upgrade."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0013_fork_origin")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameModel("SchedulerFigures", "SchedulerMetrics"),
                migrations.AlterModelTable("schedulermetrics", "scheduling_schedulerfigures"),
                migrations.AlterField(
                    model_name="schedulermetrics",
                    name="session",
                    field=models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="scheduler_metrics",
                        serialize=False,
                        to="scheduling.session",
                    ),
                ),
            ]
        )
    ]
