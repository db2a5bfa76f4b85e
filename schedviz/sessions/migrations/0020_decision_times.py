"""When the scheduler of a followed cluster decided, as its log or its events tell."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0019_experiment_on_hold")]

    operations = [
        migrations.AddField("observer", "last_times", models.BigIntegerField(db_default=0, default=0)),
        migrations.CreateModel(
            name="DecisionBatch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("n", models.BigIntegerField()),
                ("times", models.BinaryField()),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="decision_batches", to="scheduling.session"
                    ),
                ),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("session", "n"), name="decisions_once")]},
        ),
    ]
