"""Queries for whole rows whose SQL is generated once: Django takes ten times as long to generate it as the database takes to execute it.

For queries of nearly every request. All other queries use the ORM.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import msgspec
from django.db import connection
from django.db.models import Model
from django.db.models.expressions import Col

from schedviz.sessions.queries.database import repeated_cursor

M = TypeVar("M", bound=Model)


class _Prepared(msgspec.Struct, frozen=True):
    """The statement for one kind of database, and the converters of its columns."""

    statement: str
    converters: Sequence[tuple[int, Sequence[Callable[[Any, Any, Any], Any]], Col]]


class _RowQuery:
    """A query that reads whole rows of models. The part after its columns is generated once for each kind of database."""

    def __init__(self, *models: type[Model]) -> None:
        self._models = models
        self._prepared: dict[str, _Prepared] = {}

    def _rows(self, values: Sequence[Any]) -> list[Sequence[Any]]:
        """The rows for these values, as model instances."""
        prepared = self._prepared.get(connection.vendor)
        if prepared is None:
            prepared = self._prepared[connection.vendor] = self._prepare()
        with repeated_cursor() as cursor:
            cursor.execute(prepared.statement, values)
            return [self._converted(row, prepared) for row in cursor.fetchall()]

    @staticmethod
    def _converted(row: Sequence[Any], prepared: _Prepared) -> Sequence[Any]:
        if not prepared.converters:
            return row
        values = list(row)
        for index, converters, column in prepared.converters:
            for convert in converters:
                values[index] = convert(values[index], column, connection)
        return values

    def _prepare(self) -> _Prepared:
        names: list[str] = []
        converters: list[tuple[int, Sequence[Any], Col]] = []
        for model in self._models:
            for field in model._meta.concrete_fields:
                column = field.get_col(model._meta.db_table)
                functions = [*connection.ops.get_db_converters(column), *column.get_db_converters(connection)]
                if functions:
                    converters.append((len(names), functions, column))
                names.append(_quoted(model._meta.db_table, str(field.column)))
        # All parts of the statement are constants.
        return _Prepared(f"SELECT {', '.join(names)} FROM {self._after_columns()}", converters)  # noqa: S608  # nosec B608

    def _after_columns(self) -> str:
        raise NotImplementedError


class RowBy(_RowQuery, Generic[M]):
    """Reads the row with a value in one unique column. `with_related`: also the row that this non-null foreign key refers to."""

    def __init__(self, model: type[M], column: str, *, with_related: str = "") -> None:
        self._key: Any = model._meta.get_field(column)
        link: Any = model._meta.get_field(with_related) if with_related else None
        super().__init__(*([model] if link is None else [model, link.related_model]))
        self._link = link
        self._model = model
        self._names = _names(model)

    def __call__(self, value: Any) -> M | None:
        """The row as a model instance; None if there is none."""
        rows = self._rows([self._key.get_db_prep_value(value, connection)])
        if not rows:
            return None
        (values,) = rows
        instance = self._model.from_db(connection.alias, self._names, values[: len(self._names)])
        if self._link is not None:
            other = self._link.related_model
            self._link.set_cached_value(instance, other.from_db(connection.alias, _names(other), values[len(self._names) :]))
        return instance

    def _after_columns(self) -> str:
        table = self._model._meta.db_table
        join = ""
        if self._link is not None:
            other = self._link.related_model._meta.db_table
            join = f" JOIN {_quoted(other)} ON {_quoted(other, self._link.target_field.column)} = {_quoted(table, self._link.column)}"
        return f"{_quoted(table)}{join} WHERE {_quoted(table, self._key.column)} = %s"


class RowsWhere(_RowQuery, Generic[M]):
    """Reads the rows that match a condition in SQL, which may include an order and a limit."""

    def __init__(self, model: type[M], condition: str) -> None:
        super().__init__(model)
        self._model = model
        self._names = _names(model)
        self._condition = condition

    def __call__(self, *values: Any) -> list[M]:
        """The rows as model instances. The values for the condition have the database's types."""
        return [self._model.from_db(connection.alias, self._names, row) for row in self._rows(values)]

    def _after_columns(self) -> str:
        return f"{_quoted(self._model._meta.db_table)} WHERE {self._condition}"


def _names(model: type[Model]) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields]


def _quoted(*names: str) -> str:
    return ".".join(connection.ops.quote_name(name) for name in names)
