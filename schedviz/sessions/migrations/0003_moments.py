import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("scheduling", "0002_extender_answers"),
    ]

    operations = [
        migrations.AddField(model_name="cyclesummary", name="first_event", field=models.BigIntegerField(blank=True, null=True)),
        migrations.AddField(model_name="cyclesummary", name="last_event", field=models.BigIntegerField(blank=True, null=True)),
        migrations.CreateModel(
            name="ChunkTally",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.BigIntegerField()),
                ("first_event", models.BigIntegerField()),
                ("last_event", models.BigIntegerField()),
                ("clock_seconds", models.FloatField()),
                ("cycles", models.IntegerField(default=0)),
                ("scheduled", models.IntegerField(default=0)),
                ("unschedulable", models.IntegerField(default=0)),
                ("errors", models.IntegerField(default=0)),
                ("preempted", models.IntegerField(default=0)),
                ("bound", models.IntegerField(default=0)),
                ("pod_moves", models.IntegerField(default=0)),
                ("node_changes", models.IntegerField(default=0)),
                ("active_q", models.IntegerField(default=0)),
                ("backoff_q", models.IntegerField(default=0)),
                ("unschedulable_pods", models.IntegerField(default=0)),
                ("pods", models.IntegerField(default=0)),
                ("nodes", models.IntegerField(default=0)),
                ("session", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="tallies", to="scheduling.session")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("session", "number"), name="tally_once")],
            },
        ),
    ]
