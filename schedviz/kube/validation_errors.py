"""Rewords msgspec's errors: the path, the expected and the found value."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from schedviz.kube import quantity
from schedviz.kube.allowed import allowed_members, allowed_values
from schedviz.kube.errors import DecodeError
from schedviz.kube.lines import ONE_LINE

_MESSAGE_WITH_PATH = re.compile(r"^(?P<what>.*?)(?: - at (?P<key>`key` in )?`\$(?P<path>[^`]*)`)?$", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`")
_EXPECTED = re.compile(r"Expected `(?P<type>[^`]*)`(?P<rest>[^,]*)(?:, got `(?P<got>[^`]*)`)?")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")

_WORDS: Final = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "object": "an object",
    "array": "a list",
    "Quantity": "a quantity such as 500m or 2Gi",
    "null": "null",
}
_BOUNDS: Final[tuple[tuple[str, str], ...]] = ((">=", "of at least"), ("<=", "of at most"), (">", "of more than"), ("<", "of less than"))
_MATCHING: Final = re.compile("matching regex '(.*)'", re.DOTALL)
#: Descriptions of string patterns, as msgspec quotes them.
_PATTERNS: Final = {repr(ONE_LINE)[1:-1]: "of one line without control characters"}
_TYPES: Final[dict[str, Any]] = {"str": str, "int": int, "float": (int, float), "bool": bool, "object": dict, "array": (list, tuple)}


def describe(value: object) -> str:
    """A short description of a value for a message."""
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, (list, tuple)):
        return "a list"
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 80 else f"{text[:77]}…"


def explain_validation_error(error: msgspec.ValidationError, data: object, type_: Any = None) -> DecodeError:
    """The error in words. `data` is the decoded input: msgspec writes `[...]` for a member of a map, so the key is looked up there.

    With `type_`, the expected type, the error also lists the allowed values.
    """
    match = _MESSAGE_WITH_PATH.match(str(error))
    problem, path = (match["what"], match["path"] or "") if match else (str(error), "")
    unknown = _UNKNOWN.fullmatch(problem)
    if unknown:
        return _unknown_field(path, unknown[1], data, type_)
    missing = _MISSING.fullmatch(problem)
    if missing:
        choices = allowed_values(type_, data, [*_steps(path), missing[1]]) if type_ is not None else []
        return DecodeError(_join(path, missing[1]), _one_of(choices) or "a value", "nothing")
    if problem.startswith(("Invalid value", "Invalid enum value")) and type_ is not None:
        where, found = _locate(path, data, "Quantity")
        return DecodeError(where, _one_of(allowed_values(type_, data, _steps(path))) or "another value", describe(found))
    if match and match["key"]:
        return DecodeError(path.lstrip("."), "names that are strings", message="expected names that are strings; put the others in quotes")
    expected = _EXPECTED.match(problem)
    where, found = _locate(path, data, expected["type"] if expected else "Quantity")
    if isinstance(error.__cause__, quantity.QuantityError) or not expected:
        form = "Base64" if "base64" in problem else "a quantity"
        return DecodeError(where, form, describe(found), message=problem)
    return DecodeError(where, _in_words(expected["type"], expected["rest"].strip()), describe(found))


def _unknown_field(path: str, name: str, data: object, type_: Any) -> DecodeError:
    if type_ is None:
        return DecodeError(_join(path, name), "a field of the Kubernetes API", name, message="unknown field")
    members = ", ".join(allowed_members(type_, data, _steps(path)))
    return DecodeError(_join(path, name), members, name, message=f"unknown field; {f'there are {members}' if members else 'there is none'}")


def _one_of(choices: list[str]) -> str:
    return f"one of {', '.join(choices)}" if choices else ""


def _steps(path: str) -> list[str | int]:
    """The steps of a path; 0 for map keys, which msgspec does not report."""
    return [name or (0 if index == "..." else int(index)) for name, index in _STEP.findall(path)]


def _in_words(type_: str, rest: str) -> str:
    options = [_WORDS.get(option.strip(), option.strip()) for option in type_.split("|") if option.strip() != "null"]
    if pattern := _MATCHING.fullmatch(rest):
        return f"{' or '.join(options)} {_PATTERNS.get(pattern[1], f'matching {pattern[1]}')}"
    length, bounds = rest.removeprefix("of length "), _BOUNDS
    if length != rest:
        bounds = tuple((sign, bound.replace("of ", "of a length of ", 1)) for sign, bound in _BOUNDS)
    bound = length
    for sign, bound_text in bounds:
        if bound.startswith(f"{sign} "):
            bound = f"{bound_text} {bound.removeprefix(f'{sign} ').removesuffix('.0')}"
            break
    return f"{' or '.join(options)}{f' {bound}' if bound else ''}"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}".lstrip(".")


def _locate(path: str, data: object, type_: str) -> tuple[str, Any]:
    """The path with map keys filled in, and the value there."""
    where, value = "", data
    for name, index in _STEP.findall(path):
        if name:
            where, value = f"{where}.{name}", value.get(name) if isinstance(value, dict) else None
        elif index == "...":
            key, value = _culprit(value, type_)
            where = f"{where}.{key}" if "." not in key and "/" not in key else f'{where}["{key}"]'
        else:
            items = value if isinstance(value, (list, tuple)) else ()
            where, value = f"{where}[{index}]", items[int(index)] if int(index) < len(items) else None
    return where.lstrip("."), value


def _culprit(members: object, type_: str) -> tuple[str, Any]:
    """The first invalid member of a map."""
    if isinstance(members, dict):
        for key, value in members.items():
            if not _fits(value, type_):
                return str(key), value
    return "...", None


def _fits(value: object, type_: str) -> bool:
    if type_ == "Quantity":
        try:
            quantity.parse(value.strip() if isinstance(value, str) else str(value))
        except ValueError:
            return False
        return not isinstance(value, (bool, dict, list))
    types = tuple(_TYPES[option.strip()] for option in type_.split("|") if option.strip() in _TYPES)
    return not types or any(isinstance(value, option) for option in types)
