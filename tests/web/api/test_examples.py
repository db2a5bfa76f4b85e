"""Every REST operation has an example in the OpenAPI document, which equals the real response."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
from django.conf import settings
from django.core.management import call_command
from jsonschema.validators import Draft202012Validator

from schedviz.web.api import examples
from schedviz.web.auth.login import make_token
from tests.web.api.api_examples import EXAMPLES, Writing, filled

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def document(tmp_path: Path) -> dict:
    path = tmp_path / "schema.json"
    call_command("spectacular", "--format", "openapi-json", "--file", str(path))
    return json.loads(path.read_text())


@pytest.fixture
def clients(web_server, people, engine_worker, io_worker) -> Iterator[dict[str, httpx.Client]]:
    """Scripts with a token, and a browser without a login that holds the CSRF cookie."""
    address = f"http://{web_server.netloc}"
    with contextlib.ExitStack() as stack:
        made = {}
        for who in ("owner", "staff"):
            headers = {"Authorization": f"Bearer {make_token(getattr(people, who), 'script')}"}
            made[who] = stack.enter_context(httpx.Client(base_url=f"{address}/api/v1/", headers=headers, timeout=60))
        made["guest"] = stack.enter_context(httpx.Client(base_url=f"{address}/api/v1/", timeout=60))
        made["guest"].get(f"{address}/r/")
        made["guest"].headers["X-CSRFToken"] = made["guest"].cookies[settings.CSRF_COOKIE_NAME]
        yield made


def test_the_examples_equal_real_responses(clients, people, document, web_server):
    ids, told, writing = {"e": str(people.session.pk)}, {}, Writing(web_server.netloc)
    operations = {
        operation["operationId"]: (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if isinstance(operation, dict) and "operationId" in operation
    }
    for example in EXAMPLES:
        query = {name: str(value).format(**ids) for name, value in example.query.items()}
        sent = filled(example.body, ids)
        answer = clients[example.who].request(
            example.method,
            example.path.format(**ids),
            params=query,
            headers=dict(example.headers),
            **({"json": sent} if sent else {}),
        )
        assert answer.status_code == example.status, (example.operation, answer.text)
        kind = answer.headers.get("Content-Type", "").partition(";")[0]
        body = _body(answer, kind)
        if example.keep:
            ids[example.keep] = body["id"]
        if kind.endswith("json") and isinstance(body, dict):
            ids |= {"code": body["code"]} if body.get("code") and body.get("link") else {}
            ids |= {"p": body["you"]["id"]} if body.get("you") else {}
        if not example.operation:
            continue
        path, _, operation = operations[example.operation]
        declared = operation["responses"][str(example.status)].get("content", {}).get(kind, {}).get("schema")
        if declared and kind.endswith("json"):
            jsonschema.validate(body, {**declared, "components": document["components"]}, Draft202012Validator)
        told[example.operation] = {"path": path, "status": example.status, "mediaType": kind, "response": writing.written(body)}
        told[example.operation] |= {"query": writing.written(query)} if query else {}
        told[example.operation] |= {"body": writing.written(sent)} if sent else {}

    written = json.dumps(told, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    if os.environ.get("SCHEDVIZ_RECORD_EXAMPLES"):
        examples.FILE.write_text(written, encoding="utf-8")
    stored = json.loads(examples.FILE.read_text(encoding="utf-8"))
    for name, one in json.loads(written).items():
        assert one == stored.get(name), f"{name}: SCHEDVIZ_RECORD_EXAMPLES=1 records it again"
    assert set(stored) == set(told)


def _body(answer: httpx.Response, kind: str) -> Any:
    """The recorded part of a response; of a binary one its first bytes."""
    if kind.endswith("json"):
        return answer.json()
    return answer.text if kind.startswith("text/") or kind.endswith("ndjson") else answer.text[:5] + ("…" if answer.text else "")


def test_every_operation_has_an_example(document):
    without = {
        operation["operationId"]
        for methods in document["paths"].values()
        for operation in methods.values()
        if isinstance(operation, dict) and "operationId" in operation and operation["operationId"] not in examples.known()
    }

    assert without == set()
    shown = document["paths"]["/api/v1/sessions/{session_id}/commands/"]["post"]
    assert shown["requestBody"]["content"]["application/json"]["example"] == {"op": "step", "unit": "cycle", "key": "step-1"}
    assert shown["responses"]["200"]["content"]["application/json"]["example"]["status"] == "done"
