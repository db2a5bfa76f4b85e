"""Parses a YAML file that a person wrote, and keeps the line of each value for messages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import msgspec
import yaml

from schedviz.kube.nesting import NESTING_DEPTH, TOO_DEEP

#: The steps of a path: names of members, and indices.
NodePath = list[str | int]

_OPENING: Final = (yaml.BlockSequenceStartToken, yaml.BlockMappingStartToken, yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken)
_CLOSING: Final = (yaml.BlockEndToken, yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken)
#: Characters of a whole number.
_MAX_NUMBER_LENGTH: Final = 100

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
        return line_at(self.root, node_path_of(path))


if TYPE_CHECKING:
    _SafeLoader = yaml.SafeLoader
else:
    # libyaml is five times as fast. PyYAML's wheels have it.
    _SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_SafeLoader):
    """A YAML loader for which `on`, `off`, `yes` and `no` are strings, as in YAML 1.2. Only `true` and `false` are booleans.

    A key that stands twice is an error, and so is a value that its type cannot hold, such as the date 2020-13-45.
    """

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 (PyYAML's signature)
        try:
            return super().construct_object(node, deep)
        except (ArithmeticError, AttributeError, LookupError, ValueError):
            raise _error(node, f"{_shown(node)} is not a valid {node.tag.rpartition(':')[2]}") from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002
        seen = set()
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in seen:
                    raise _error(key, f"the key {_shown(key)} stands twice in a mapping")
                seen.add((key.tag, key.value))
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        return found

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        """The number. More digits than any member reads would take long to convert, and could not be printed."""
        if len(node.value) > _MAX_NUMBER_LENGTH:
            raise _error(node, f"{_shown(node)} is too long for a number")
        number: int = super().construct_yaml_int(node)
        return number


def _error(node: yaml.Node, problem: str) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _shown(node: yaml.Node) -> str:
    """The beginning of a scalar."""
    return repr(str(node.value)[:40])


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
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
        _check_tokens(text, aliases=aliases)
        loader = _Loader(text)
        try:
            root = loader.get_single_node()
            document = None if root is None else loader.construct_document(root)
        finally:
            loader.dispose()
    except UnicodeEncodeError:
        raise NotYamlError(0, "it is not YAML: it contains a lone surrogate, which is not a valid character") from None
    except yaml.MarkedYAMLError as error:
        # The end of the text is in its last line.
        line = min(error.problem_mark.line, text.count("\n")) + 1 if error.problem_mark else 0
        raise NotYamlError(line, f"it is not YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise NotYamlError(0, f"it is not YAML: {error}") from None
    except RecursionError:
        raise NotYamlError(0, TOO_DEEP) from None
    if root is None or not isinstance(document, dict):
        raise NotYamlError(1, f"expected a mapping with {expected}")
    return YamlNodes(document, root)


def _check_tokens(text: str, *, aliases: bool) -> None:
    """Refuse aliases, and deep nesting: PyYAML takes time with the square of the depth. Raises `NotYamlError`."""
    depth = 0
    for token in yaml.scan(text, Loader=_SafeLoader):
        if isinstance(token, yaml.AliasToken) and not aliases:
            raise NotYamlError(token.start_mark.line + 1, "aliases (`*name`) are not read here; write the value again")
        depth += isinstance(token, _OPENING) - isinstance(token, _CLOSING)
        if depth > NESTING_DEPTH:
            raise NotYamlError(token.start_mark.line + 1, TOO_DEEP)


def node_path_of(path: str) -> NodePath:
    """The steps of a path as msgspec writes it. `[...]` stands for an element whose index is unknown, and is read as 0."""
    dotted = path if path.startswith((".", "[")) or not path else f".{path}"
    return [name or (0 if index == "..." else int(index)) for name, index in _STEP.findall(dotted)]


def line_at(node: yaml.Node, path: NodePath) -> int:
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
