"""Runs the migrations that squashed ones replace: a backup of an older version stops between two of them."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

#: (app, name).
Key = tuple[str, str]


class SingleMigrationLoader(MigrationLoader):
    """A loader without squashed migrations."""

    #: The names of those that it leaves out.
    squashed: frozenset[Key]

    def load_disk(self) -> None:
        """Load the migrations of all apps."""
        super().load_disk()
        self.squashed = frozenset(key for key, migration in self.disk_migrations.items() if migration.replaces)
        for key in self.squashed:
            del self.disk_migrations[key]

    @property
    def applied(self) -> set[Key]:
        """The applied migrations, without squashed ones."""
        return self.single(self.applied_migrations)

    def single(self, keys: Iterable[Key]) -> set[Key]:
        """The same without squashed migrations."""
        return set(keys) - self.squashed


class SingleMigrationExecutor(MigrationExecutor):
    """An executor that runs them one by one."""

    loader: SingleMigrationLoader

    def __init__(self) -> None:
        super().__init__(connection)
        self.loader = SingleMigrationLoader(connection)
