"""One line of the scheduler's log, in text and in JSON.

Upstream: k8s.io/klog/v2 InfoS (the text), k8s.io/component-base/logs/json (the JSON)
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import msgspec

_SECOND = 1_000_000_000
_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", '"': '\\"', "\\": "\\\\"}


class ObjectRef(msgspec.Struct, frozen=True):
    """A reference to an object in a log line. Upstream: klog KObj"""

    name: str
    namespace: str = ""

    @classmethod
    def of(cls, key: str) -> ObjectRef:
        """The reference for `namespace/name`, or for a name alone."""
        namespace, _, name = key.rpartition("/")
        return cls(name, namespace)

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class JsonList(list[Any]):
    """A list that the text format shows as JSON, as klog does since the release that v1.36 uses."""


class JsonObject(dict[str, Any]):
    """An object that the text format shows as JSON."""


class LogLine(msgspec.Struct, frozen=True):
    """A message with named values: strings, numbers, lists of strings, object references. `at` is in nanoseconds since 1970, UTC."""

    at: int
    #: Package folder, file and line: `debugger/dumper.go:52`.
    caller: str
    message: str
    values: tuple[tuple[str, Any], ...] = ()
    verbosity: int = 0
    #: The values that the logger adds to each of its lines. Upstream: klog LoggerWithValues
    context: tuple[tuple[str, Any], ...] = ()
    #: The name of the logger: `PreFilter.InterPodAffinity`; "": it has none. Upstream: klog LoggerWithName
    logger: str = ""
    #: The line is an error, which any verbosity shows.
    is_error: bool = False
    #: The error of such a line; "": it has none.
    error: str = ""

    def text(self, *, pid: int = 1) -> str:
        """The line in the format of `--logging-format=text`, with the line end.

        A value that is given twice is shown once: the first time if both are equal, the last one otherwise.
        Upstream: klog/v2/internal/serialize/keyvalues.go FormatKVs
        """
        time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=self.at // _SECOND)
        stamp = f"{time:%m%d %H:%M:%S}.{self.at % _SECOND // 1000:06d}"
        name = (("logger", self.logger),) if self.logger else ()
        shown: dict[str, str] = {}
        error = (("err", self.error),) if self.error else ()
        for key, value in (*error, *name, *self.context, *self.values):
            text = _as_text(value)
            if key in shown and shown[key] != text:
                del shown[key]
            shown[key] = text
        values = "".join(f" {key}={text}" for key, text in shown.items())
        severity = "E" if self.is_error else "I"
        return f"{severity}{stamp} {pid:7d} {self.caller.rpartition('/')[2]}] {quoted(self.message)}{values}\n"

    def json(self) -> str:
        """The line in the format of `--logging-format=json`, with the line end. A value that is given twice is written twice.

        Upstream: component-base/logs/json (zapr), which writes the logger's values before the line's
        """
        name = (("logger", self.logger),) if self.logger else ()
        head = (("ts", _millis(self.at)), *name, ("caller", self.caller), ("msg", self.message))
        if self.is_error:
            members = (*head, *self.context, *self.values, *((("err", self.error),) if self.error else ()))
        else:
            members = (*head, *self.context, ("v", self.verbosity), *self.values)
        return "{" + ",".join(f"{_json(key)}:{_json(_as_json(value))}" for key, value in members) + "}\n"

    def write(self, form: Literal["text", "json"], *, pid: int = 1) -> str:
        """The line in one of the two formats."""
        return self.text(pid=pid) if form == "text" else self.json()


def quoted(text: str) -> str:
    """A Go string literal. Upstream: strconv.Quote"""
    return '"' + "".join(_ESCAPES.get(char) or (char if char.isprintable() else _escaped(char)) for char in text) + '"'


def _escaped(char: str) -> str:
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _as_text(value: Any) -> str:
    if isinstance(value, JsonList | JsonObject):
        return _json(value).replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    if isinstance(value, (list, tuple)):
        return f"[{' '.join(map(str, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    text = str(value)
    if "\n" not in text:
        return quoted(text)
    return "<\n" + "".join(f"\t{line}\n" for line in text.removesuffix("\n").split("\n")) + " >"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _as_json(value: Any) -> Any:
    if isinstance(value, ObjectRef):
        return {"name": value.name, **({"namespace": value.namespace} if value.namespace else {})}
    return value


def _millis(at: int) -> float | int:
    """Milliseconds as a divided float64, with the rounding that real logs show."""
    millis = float(at) / 1e6
    return int(millis) if millis.is_integer() else millis
