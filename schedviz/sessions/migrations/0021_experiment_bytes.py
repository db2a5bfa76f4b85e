"""Experiments know how many bytes their plans, bases and results have, for the quotas."""

from typing import Any

from django.db import migrations, models
from django.db.models import F, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce, Length


def count_stored_bytes(apps: Any, _editor: Any) -> None:
    """Of the experiments that are there."""
    bases = apps.get_model("scheduling", "ExperimentBase").objects.filter(experiment=OuterRef("pk"))
    trials = apps.get_model("scheduling", "ExperimentTrial").objects.filter(experiment=OuterRef("pk")).order_by()
    size = Coalesce(Length("result"), 0) + Coalesce(Length("detail"), 0)
    results = trials.values("experiment").annotate(total=Sum(size)).values("total")
    apps.get_model("scheduling", "Experiment").objects.update(
        stored_bytes=Length(F("plan")) + Coalesce(Subquery(bases.values(total=Length("data"))), 0) + Coalesce(Subquery(results), 0)
    )


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0020_decision_times")]

    operations = [
        migrations.AddField(model_name="experiment", name="stored_bytes", field=models.BigIntegerField(db_default=0, default=0)),
        migrations.RunPython(count_stored_bytes, migrations.RunPython.noop),
    ]
