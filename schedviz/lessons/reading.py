"""Reads a lesson's folder. Errors have file and line."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import yaml

from schedviz.ingest.configuration.yaml_nodes import NodePath, NotYamlError, YamlNodes, line_at, parse_yaml
from schedviz.kube import codec
from schedviz.kube.errors import KubeError
from schedviz.kube.shorthand import ShorthandError, expanded
from schedviz.lessons.errors import Fault, LessonError, fault
from schedviz.lessons.lesson import LANGUAGES, Lesson, Plan
from schedviz.lessons.texts import read_text

PLAN = "lesson.yaml"


def read_lesson(folder: Path) -> Lesson:
    """The lesson in a folder, with the available texts. Raises `LessonError`."""
    file = folder / PLAN
    if not file.is_file():
        raise fault(file, 0, f"there is no {PLAN} in {folder.name}")
    parsed = _parse(file)
    objects = _expand(file, parsed.document, parsed.root)
    try:
        plan = msgspec.convert(parsed.document, Plan)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        where = path.rstrip("`").lstrip(".")
        raise fault(file, parsed.line_of(where), f"{where or 'the lesson'}: {_lower(message)}") from None
    texts = {language: read_text(folder / f"{language}.md") for language in LANGUAGES if (folder / f"{language}.md").is_file()}
    return Lesson(folder.name, plan, objects, texts, version_of(folder))


def version_of(folder: Path) -> str:
    """A digest of a lesson's current files."""
    digest = hashlib.blake2b(digest_size=8)
    for name in (PLAN, *(f"{language}.md" for language in LANGUAGES)):
        with contextlib.suppress(OSError):
            digest.update(name.encode() + (folder / name).read_bytes())
    return digest.hexdigest()


def _parse(file: Path) -> YamlNodes:
    """The document, and its nodes with their lines."""
    try:
        return parse_yaml(file.read_text(encoding="utf-8"), expected="part, order, minutes and stops")
    except UnicodeDecodeError as error:
        raise fault(file, 0, f"it is not UTF-8: {error.reason} at byte {error.start}") from None
    except NotYamlError as error:
        raise fault(file, error.line, str(error)) from None


def _expand(file: Path, document: dict[str, Any], root: yaml.Node) -> list[dict[str, Any]]:
    """Expand short objects in the cluster and in commands, and decode each object. A lesson with an invalid object is refused."""
    faults: list[Fault] = []

    def object_at(document: Any, path: NodePath) -> Any:
        try:
            obj = expanded(document) if isinstance(document, dict) else document
            codec.from_dict(obj, strict=True)
        except (ShorthandError, KubeError) as error:
            faults.append(Fault(file.name, line_at(root, path), str(error)))
            return document
        return obj

    cluster = document.get("cluster")
    objects = [object_at(obj, ["cluster", i]) for i, obj in enumerate(cluster)] if isinstance(cluster, list) else []
    for i, stop in enumerate(_list(document.get("stops"))):
        for path, commands in _commands_in(stop):
            for k, command in enumerate(commands):
                if isinstance(command, dict) and "object" in command:
                    command["object"] = object_at(command["object"], ["stops", i, *path, k, "object"])
    if faults:
        raise LessonError(faults)
    return objects


def _commands_in(stop: Any) -> Iterator[tuple[NodePath, list[Any]]]:
    """The lists of commands in a stop, and their paths."""
    if not isinstance(stop, dict):
        return
    for half in ("do", "reveal"):
        yield from _with_inner([half], _list(stop.get(half)))
    for n, hint in enumerate(_list(stop.get("hints"))):
        if isinstance(hint, dict):
            yield from _with_inner(["hints", n, "after"], _list(hint.get("after")))


def _with_inner(path: NodePath, commands: list[Any]) -> Iterator[tuple[NodePath, list[Any]]]:
    """A list of commands, and the commands in `during` of its members."""
    yield path, commands
    for k, command in enumerate(commands):
        if isinstance(command, dict) and "during" in command:
            yield [*path, k, "during"], _list(command["during"])


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
