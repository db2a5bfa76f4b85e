"""Migrations keep the contents of a data folder of an earlier version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from schedviz.web.backup.single_migrations import SingleMigrationExecutor


def migrate(name: str) -> Any:
    """Migrate to a migration and return its models."""
    SingleMigrationExecutor().migrate([("scheduling", name)])
    return SingleMigrationExecutor().loader.project_state([("scheduling", name)]).apps


def tables() -> dict[str, Any]:
    """Each table of the app with its columns, constraints and indexes, as the database describes them."""
    results: dict[str, Any] = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            if table.startswith("scheduling_"):
                columns = connection.introspection.get_table_description(cursor, table)
                constraints = connection.introspection.get_constraints(cursor, table)
                results[table] = {
                    "columns": sorted((column.name, str(column.type_code), column.null_ok, str(column.default)) for column in columns),
                    "constraints": sorted(
                        (
                            sorted(constraint["columns"] or []),
                            constraint["unique"],
                            constraint["primary_key"],
                            str(constraint["foreign_key"]),
                            constraint["check"],
                            constraint["index"],
                        )
                        for constraint in constraints.values()
                    ),
                    "names": sorted(name for name in constraints if not name.startswith("__")),
                }
    return results


@pytest.fixture
def newest(transactional_db: None) -> Iterator[str]:
    """The name of the newest migration, to which the database is brought again."""
    name = max(name for app, name in SingleMigrationExecutor().loader.graph.leaf_nodes() if app == "scheduling")
    yield name
    # With the tables that depend on them.
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def test_a_new_database_has_the_same_tables_as_an_upgraded_one(newest: str) -> None:
    squashed = tables()
    SingleMigrationExecutor().migrate([("scheduling", None)])
    assert tables() == {}

    migrate(newest)

    assert tables() == squashed


def test_sessions_stored_with_branches_are_migrated_to_sessions_without(newest: str) -> None:
    apps = migrate("0004_stories_and_breakpoints")
    session = apps.get_model("scheduling", "Session").objects.create(name="old", event=7, chunk=2)
    apps.get_model("scheduling", "Branch").objects.create(session=session, name="main")
    for number in (1, 2):
        apps.get_model("scheduling", "Chunk").objects.create(
            session=session, number=number, first_event=number, last_event=number, first_cycle=0, last_cycle=0, data=b"x"
        )
        apps.get_model("scheduling", "Command").objects.create(session=session, seq=number, key=f"k{number}", body=b"{}")
        apps.get_model("scheduling", "CycleSummary").objects.create(session=session, cycle=number, data=b"{}")
    apps.get_model("scheduling", "Checkpoint").objects.create(session=session, event=0, chunk=0, cycle=0, complete=True)

    apps = migrate(newest)

    session_ = apps.get_model("scheduling", "Session").objects.get()
    assert (session_.name, session_.event, session_.chunk, session_.forked_from_id, session_.fork_event) == ("old", 7, 2, None, 0)
    assert list(session_.chunks.order_by("number").values_list("number", "first_event")) == [(1, 1), (2, 2)]
    assert list(session_.commands.order_by("seq").values_list("seq", "key")) == [(1, "k1"), (2, "k2")]
    assert [(row.first_cycle, row.last_cycle) for row in session_.cycle_groups.all()] == [(1, 2)]
    assert session_.history_bytes > 0
    assert session_.checkpoints.filter(complete=True).count() == 1


def test_the_bodies_of_stored_commands_are_counted(newest: str) -> None:
    apps = migrate("0011_sealed_uploads")
    sessions, commands = (apps.get_model("scheduling", name).objects for name in ("Session", "Command"))
    commanded, fresh = sessions.create(name="commanded"), sessions.create(name="fresh")
    for number in (1, 2):
        commands.create(session=commanded, seq=number, key=f"k{number}", body=b'{"op":"run"}')

    found = migrate(newest).get_model("scheduling", "Session").objects

    assert (found.get(pk=commanded.pk).command_bytes, found.get(pk=fresh.pk).command_bytes) == (24, 0)


def test_the_bytes_of_stored_experiments_are_counted(newest: str) -> None:
    apps = migrate("0020_decision_times")
    experiments, bases, trials = (
        apps.get_model("scheduling", name).objects for name in ("Experiment", "ExperimentBase", "ExperimentTrial")
    )
    run, checking = experiments.create(name="run", plan="plan"), experiments.create(name="checking", plan="plan")
    bases.create(experiment=run, data=b"base" * 100)
    trials.create(experiment=run, number=0, variant="a", result=b"result", detail=b"detail")
    trials.create(experiment=run, number=1, variant="a")

    found = migrate(newest).get_model("scheduling", "Experiment").objects

    assert (found.get(pk=run.pk).stored_bytes, found.get(pk=checking.pk).stored_bytes) == (4 + 400 + 12, 4)


def test_stored_forks_get_their_origin_and_keep_unique_keys(newest: str) -> None:
    apps = migrate("0012_command_bytes")
    sessions = apps.get_model("scheduling", "Session").objects
    origin = sessions.create(name="origin")
    source = {"fork": {"session": str(origin.pk), "name": "origin", "at": 3, "event": 3}}
    sessions.create(name="same release", forked_from=origin, fork_key="a", source=source)
    upgrade = {"fork": {**source["fork"], "release": "v1.36"}}
    for name, key in (("taken key", "a"), ("own key", "b"), ("repeated key", "b"), ("no key", "")):
        sessions.create(name=name, fork_key=key, source=upgrade)
    sessions.create(name="orphan", fork_key="c", source={"fork": {**upgrade["fork"], "session": str(uuid4())}})

    found = migrate(newest).get_model("scheduling", "Session").objects

    assert dict(found.filter(origin=origin.pk).values_list("name", "fork_key")) == {
        "same release": "a",
        "taken key": "",
        "own key": "b",
        "repeated key": "",
        "no key": "",
    }
    assert found.get(name="orphan").origin_id is None
