"""Parses a YAML file that a person wrote, and keeps the line of each value for messages."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
import yaml

#: The steps of a path: names of members, and indices.
Steps = list[str | int]

_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")


class NotYamlError(ValueError):
    """The text is not YAML, or not a mapping. `line` is 0 if it is unknown."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


class YamlNodes(msgspec.Struct, frozen=True):
    """A parsed document with its nodes, which have the lines."""

    document: dict[str, Any]
    root: yaml.Node

    def line_of(self, path: str) -> int:
        """The line, from 1, of the value at a path such as `variants[2].weights`, or of its nearest existing parent."""
        return line_at(self.root, steps_of(path))


class _Loader(yaml.SafeLoader):
    """A YAML loader for which `on`, `off`, `yes` and `no` are strings, as in YAML 1.2. Only `true` and `false` are booleans."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))


def parse_yaml(text: str, *, expected: str, aliases: bool = True) -> YamlNodes:
    """The document, and its nodes with their lines. `expected` names the members of the mapping.

    Without `aliases`, text with `*name` is refused: a small text with aliases of aliases can stand for a document that fills the memory.
    Raises `NotYamlError`.
    """
    try:
        for token in () if aliases else yaml.scan(text):
            if isinstance(token, yaml.AliasToken):
                raise NotYamlError(token.start_mark.line + 1, "aliases (`*name`) are not read here; write the value again")
        root = yaml.compose(text, Loader=_Loader)
        document = yaml.load(text, Loader=_Loader)  # noqa: S506 -- a subclass of SafeLoader.  # nosec B506
    except yaml.MarkedYAMLError as error:
        raise NotYamlError(error.problem_mark.line + 1 if error.problem_mark else 0, f"it is not YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise NotYamlError(0, f"it is not YAML: {error}") from None
    except RecursionError:
        raise NotYamlError(0, "lists and mappings are nested too deep") from None
    if root is None or not isinstance(document, dict):
        raise NotYamlError(1, f"expected a mapping with {expected}")
    return YamlNodes(document, root)


def steps_of(path: str) -> Steps:
    """The steps of a path as msgspec writes it. `[...]` stands for an element whose index is unknown, and is read as 0."""
    dotted = path if path.startswith((".", "[")) or not path else f".{path}"
    return [name or (0 if index == "..." else int(index)) for name, index in _STEP.findall(dotted)]


def line_at(node: yaml.Node, path: Steps) -> int:
    """The line, from 1, of the value at a path, or of its nearest existing parent."""
    for step in path:
        if isinstance(node, yaml.MappingNode):
            matches = [value for key, value in node.value if key.value == step]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            matches = node.value[step : step + 1]
        else:
            matches = []
        if not matches:
            break
        node = matches[0]
    return int(node.start_mark.line) + 1
