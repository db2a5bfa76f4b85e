"""Sessions know how many bytes the bodies of their commands have, for the quotas."""

from typing import Any

from django.db import migrations, models
from django.db.models import OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce, Length


def count_stored_commands(apps: Any, _editor: Any) -> None:
    """Of the sessions that are there, in one statement."""
    commands = apps.get_model("scheduling", "Command").objects.filter(session=OuterRef("pk")).order_by()
    total = commands.values("session").annotate(total=Sum(Length("body"))).values("total")
    apps.get_model("scheduling", "Session").objects.update(command_bytes=Coalesce(Subquery(total), 0))


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0011_sealed_uploads")]

    operations = [
        migrations.AddField(model_name="session", name="command_bytes", field=models.BigIntegerField(db_default=0, default=0)),
        migrations.RunPython(count_stored_commands, migrations.RunPython.noop),
    ]
