"""Nothing of v1 is removed (docs/rest.md, "Compatibility of v1"): URLs, parameters, members of responses, and required members of requests.

`SCHEDVIZ_RECORD_V1=1 pytest tests/web/api/test_v1.py` adds what is new to v1.json; entries are removed only by hand.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management import call_command

CONTRACT = Path(__file__).with_name("v1.json")


def contract_entries(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Everything that clients may rely on: a path in the document and its content."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if "operationId" not in operation:
                continue
            endpoint = f"{method.upper()} {path}"
            yield endpoint, operation["operationId"]
            for parameter in operation.get("parameters", ()):
                yield f"{endpoint} {parameter['in']} {parameter['name']}", str(parameter["schema"].get("type", ""))
            for status, response in operation["responses"].items():
                if status.startswith("2"):
                    for kind in response.get("content", {}):
                        yield f"{endpoint} {status}", kind
    for name, schema in document["components"]["schemas"].items():
        for member, kind in schema.get("properties", {}).items():
            yield f"{name}.{member}", _kind(kind)


def required_members(document: dict[str, Any]) -> set[str]:
    """The required members of a request."""
    members = set()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            for parameter in operation.get("parameters", ()) if "operationId" in operation else ():
                if parameter.get("required") and parameter["in"] != "path":
                    members.add(f"{method.upper()} {path} {parameter['name']}")
    for name, schema in document["components"]["schemas"].items():
        if name.startswith("New") or name.endswith(("Change", "MessageBody", "WhatIfBody")):
            members.update(f"{name}.{member}" for member in schema.get("required", ()))
    return members


def _kind(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(sorted(_kind(option) for option in schema["anyOf"]))
    kind = schema.get("type", "any")
    return f"list of {_kind(schema.get('items', {}))}" if kind == "array" else str(kind)


def test_nothing_is_removed_from_v1_and_everything_is_recorded(tmp_path: Path):
    path = tmp_path / "schema.json"
    call_command("spectacular", "--format", "openapi-json", "--file", str(path))
    document = json.loads(path.read_text())
    now = sorted(f"{entry}: {content}" for entry, content in set(contract_entries(document)))
    needed = sorted(required_members(document))
    if os.environ.get("SCHEDVIZ_RECORD_V1"):
        recorded = json.loads(CONTRACT.read_text()) if CONTRACT.exists() else {"has": [], "needs": needed}
        recorded = {"has": sorted({*recorded["has"], *now}), "needs": recorded["needs"]}
        CONTRACT.write_text(json.dumps(recorded, indent=0, ensure_ascii=False) + "\n")
    contract = json.loads(CONTRACT.read_text())

    assert set(contract["has"]) - set(now) == set(), "clients of v1 may rely on these"
    assert set(now) - set(contract["has"]) == set(), "not recorded yet: run this test with SCHEDVIZ_RECORD_V1=1"
    new_bodies = {name.partition(".")[0] for name in needed} - {name.partition(".")[0] for name in contract["needs"]}
    assert {name for name in needed if name.partition(".")[0] not in new_bodies} - set(contract["needs"]) == set(), (
        "clients of v1 do not send these"
    )
