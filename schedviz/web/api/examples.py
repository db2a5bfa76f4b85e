"""The examples of the OpenAPI document, from examples.json, which tests/web/api/api_examples.py records."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import msgspec

FILE = Path(__file__).with_name("examples.json")


@functools.cache
def known() -> dict[str, dict[str, Any]]:
    """The examples by operation; empty if the file does not exist yet."""
    return msgspec.json.decode(FILE.read_bytes(), type=dict[str, dict[str, Any]]) if FILE.exists() else {}


def add_examples(result: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
    """A drf-spectacular hook: the examples of all operations."""
    for path, methods in result["paths"].items():
        for operation in methods.values():
            example = known().get(operation["operationId"])
            if example is None or example["path"] != path:
                continue
            for parameter in operation.get("parameters", ()):
                if parameter["name"] in example.get("query", {}):
                    parameter["example"] = example["query"][parameter["name"]]
            if "body" in example:
                operation["requestBody"]["content"]["application/json"]["example"] = example["body"]
            response = operation["responses"].get(str(example["status"]), {}).get("content", {}).get(example["mediaType"])
            if response is not None:
                response["example"] = example["response"]
    return result
