"""`Session.forks` are all forks of a session, also those to another release. Changes no table."""

import django.db.models.deletion
from django.db import migrations, models


def _to_session(related_name: str) -> models.ForeignKey:
    return models.ForeignKey(
        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name=related_name, to="scheduling.session"
    )


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0022_object_count")]

    operations = [
        migrations.AlterField(model_name="session", name="forked_from", field=_to_session("+")),
        migrations.AlterField(model_name="session", name="origin", field=_to_session("forks")),
    ]
