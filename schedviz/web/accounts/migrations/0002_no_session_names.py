"""Staff does not learn what sessions are called: the audit log loses the names that it held."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import migrations

_AT_ONCE = 500


def forget_names(apps: Any, _schema_editor: Any) -> None:
    entries = apps.get_model("accounts", "AuditEntry").objects
    named = []
    for entry in entries.filter(session__isnull=False, facts__has_key="name").order_by("pk").iterator(chunk_size=_AT_ONCE):
        del entry.facts["name"]
        named.append(entry)
        if len(named) == _AT_ONCE:
            entries.bulk_update(named, ["facts"])
            named.clear()
    entries.bulk_update(named, ["facts"])


class Migration(migrations.Migration):
    dependencies: ClassVar = [("accounts", "0001_accounts")]
    operations: ClassVar = [migrations.RunPython(forget_names, migrations.RunPython.noop, elidable=True)]
