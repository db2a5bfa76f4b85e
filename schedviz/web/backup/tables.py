"""The tables of a backup, in an order in which they can be filled."""

from __future__ import annotations

from typing import Any

from django.apps.registry import Apps
from django.db.models import Field, Model
from django.db.models.fields.related import ForeignKey

#: Tables that migrations fill, or that need no backup: browser sessions, the history of the admin pages.
_LEFT_OUT_APPS = frozenset(("contenttypes", "sessions", "sites", "admin"))
_LEFT_OUT_MODELS = frozenset(("auth.Permission",))


def models_of_backup(apps: Apps) -> list[type[Model]]:
    """The models of a backup. A model follows those that it refers to."""
    candidates = [model for model in apps.get_models(include_auto_created=True) if model._meta.managed and not model._meta.proxy]
    models = [model for model in candidates if not _is_left_out(model) and not any(_is_left_out(other) for other in _refers_to(model))]
    ordered: list[type[Model]] = []

    def take(model: type[Model]) -> None:
        if model in ordered or model not in models:
            return
        for other in _refers_to(model):
            if other is not model:
                take(other)
        ordered.append(model)

    for model in sorted(models, key=lambda model: model._meta.label):
        take(model)
    return ordered


def fields_of(model: type[Model]) -> list[Field[Any, Any]]:
    """The fields that are columns."""
    return list(model._meta.concrete_fields)


def _refers_to(model: type[Model]) -> list[type[Model]]:
    return [field.related_model for field in fields_of(model) if isinstance(field, ForeignKey) and isinstance(field.related_model, type)]


def _is_left_out(model: type[Model]) -> bool:
    return model._meta.app_label in _LEFT_OUT_APPS or model._meta.label in _LEFT_OUT_MODELS
