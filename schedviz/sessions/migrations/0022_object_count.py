"""Sessions know how many objects of any kind they have, for the quotas."""

from typing import Any

from django.db import migrations, models
from django.db.models import F


def count_nodes_and_pods(apps: Any, _editor: Any) -> None:
    """The objects of other kinds are counted with the next command of a session."""
    apps.get_model("scheduling", "Session").objects.update(object_count=F("nodes") + F("pods"))


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0021_experiment_bytes")]

    operations = [
        migrations.AddField(model_name="session", name="object_count", field=models.BigIntegerField(db_default=0, default=0)),
        migrations.RunPython(count_nodes_and_pods, migrations.RunPython.noop),
    ]
