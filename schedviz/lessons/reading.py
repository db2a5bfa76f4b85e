"""Reads a lesson's folder. Errors have file and line."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import yaml

from schedviz.kube import codec
from schedviz.kube.errors import KubeError
from schedviz.kube.shorthand import ShorthandError, whole
from schedviz.lessons.errors import Fault, LessonError, fault
from schedviz.lessons.lesson import LANGUAGES, Lesson, Plan
from schedviz.lessons.texts import read_text

PLAN = "lesson.yaml"
_STEP = re.compile(r"\.([A-Za-z_]\w*)|\[(\d+|\.\.\.)\]")

Path_ = list[str | int]


def read_lesson(folder: Path) -> Lesson:
    """The lesson in a folder, with the available texts. Raises `LessonError`."""
    file = folder / PLAN
    if not file.is_file():
        raise fault(file, 0, f"there is no {PLAN} in {folder.name}")
    document, root = _parse(file)
    objects = _expand(file, document, root)
    try:
        plan = msgspec.convert(document, Plan)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        raise fault(file, line_at(root, _steps(path)), f"{path.rstrip('`').lstrip('.') or 'the lesson'}: {_lower(message)}") from None
    texts = {language: read_text(folder / f"{language}.md") for language in LANGUAGES if (folder / f"{language}.md").is_file()}
    return Lesson(folder.name, plan, objects, texts, version_of(folder))


def version_of(folder: Path) -> str:
    """A digest of a lesson's current files."""
    digest = hashlib.blake2b(digest_size=8)
    for name in (PLAN, *(f"{language}.md" for language in LANGUAGES)):
        with contextlib.suppress(OSError):
            digest.update(name.encode() + (folder / name).read_bytes())
    return digest.hexdigest()


class _Loader(yaml.SafeLoader):
    """A YAML loader for which `on`, `off`, `yes` and `no` are strings, as in YAML 1.2. Only `true` and `false` are booleans."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))


def _parse(file: Path) -> tuple[dict[str, Any], yaml.Node]:
    """The document, and its nodes with their lines."""
    try:
        text = file.read_text(encoding="utf-8")
        root = yaml.compose(text, Loader=_Loader)
        document = yaml.load(text, Loader=_Loader)  # noqa: S506 -- a subclass of SafeLoader.  # nosec B506
    except UnicodeDecodeError as error:
        raise fault(file, 0, f"it is not UTF-8: {error.reason} at byte {error.start}") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise fault(file, line, f"it is not YAML: {error.problem}") from None
    if root is None or not isinstance(document, dict):
        raise fault(file, 1, "expected a mapping with part, order, minutes and stops")
    return document, root


def _expand(file: Path, document: dict[str, Any], root: yaml.Node) -> list[dict[str, Any]]:
    """Expand short objects in the cluster and in commands, and decode each object. A lesson with an invalid object is refused."""
    faults: list[Fault] = []

    def object_at(written: Any, path: Path_) -> Any:
        try:
            obj = whole(written) if isinstance(written, dict) else written
            codec.from_dict(obj, strict=True)
        except (ShorthandError, KubeError) as error:
            faults.append(Fault(file.name, line_at(root, path), str(error)))
            return written
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


def _commands_in(stop: Any) -> Iterator[tuple[Path_, list[Any]]]:
    """The lists of commands in a stop, and their paths."""
    if not isinstance(stop, dict):
        return
    for half in ("do", "reveal"):
        yield from _with_inner([half], _list(stop.get(half)))
    for n, hint in enumerate(_list(stop.get("hints"))):
        if isinstance(hint, dict):
            yield from _with_inner(["hints", n, "after"], _list(hint.get("after")))


def _with_inner(path: Path_, commands: list[Any]) -> Iterator[tuple[Path_, list[Any]]]:
    """A list of commands, and the commands in `during` of its members."""
    yield path, commands
    for k, command in enumerate(commands):
        if isinstance(command, dict) and "during" in command:
            yield [*path, k, "during"], _list(command["during"])


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _steps(path: str) -> Path_:
    return [name or (0 if index == "..." else int(index)) for name, index in _STEP.findall(path)]


def line_at(node: yaml.Node, path: Path_) -> int:
    """The line, from 1, of the value at a path, or of its nearest existing parent."""
    for step in path:
        if isinstance(node, yaml.MappingNode):
            found = [value for key, value in node.value if key.value == step]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            found = node.value[step : step + 1]
        else:
            found = []
        if not found:
            break
        node = found[0]
    return int(node.start_mark.line) + 1


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
