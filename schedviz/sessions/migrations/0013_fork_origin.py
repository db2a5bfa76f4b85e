"""Forks have a reference to the session that they were forked from, also those to another release, so that a key is unique for them too."""

from typing import Any
from uuid import UUID

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F, Q


def set_origins(apps: Any, _editor: Any) -> None:
    """Set the origin of stored forks. A fork to another release whose key another fork has loses its key."""
    sessions = apps.get_model("scheduling", "Session").objects
    sessions.exclude(forked_from=None).update(origin=F("forked_from"))
    same_release = sessions.exclude(forked_from=None).exclude(fork_key="")
    keys = {(str(origin), owner, key) for origin, owner, key in same_release.values_list("forked_from", "owner", "fork_key")}
    others = sessions.filter(forked_from=None, source__has_key="fork").order_by("created_at").values_list("pk", "source", "owner", "fork_key")
    for pk, source, owner, key in list(others):
        origin = source["fork"].get("session")
        if origin is None or not sessions.filter(pk=UUID(origin)).exists():
            continue
        is_first = not key or (origin, owner, key) not in keys
        keys.add((origin, owner, key))
        sessions.filter(pk=pk).update(origin=UUID(origin), fork_key=key if is_first else "")


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0012_command_bytes")]

    operations = [
        migrations.AddField(
            model_name="session",
            name="origin",
            field=models.ForeignKey(
                blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="all_forks", to="scheduling.session"
            ),
        ),
        migrations.RunPython(set_origins, migrations.RunPython.noop),
        migrations.RemoveConstraint(model_name="session", name="fork_key_once"),
        migrations.AddConstraint(
            model_name="session",
            constraint=models.UniqueConstraint(condition=~Q(fork_key=""), fields=("origin", "owner", "fork_key"), name="fork_key_unique"),
        ),
    ]
