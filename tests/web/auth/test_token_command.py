"""`schedviz token`."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from django.test import Client

from schedviz.cli.token import token

pytestmark = pytest.mark.django_db


def run(*arguments: str):
    return CliRunner().invoke(token, list(arguments))


def test_a_token_is_created_listed_used_and_revoked():
    made = run("create", "--name", "ci", "--scope", "read", "--days", "2")
    secret = made.output.strip()
    listed = run("list").output
    client = Client(headers={"Authorization": f"Bearer {secret}"})

    assert made.exit_code == 0
    assert client.get("/api/v1/sessions/").status_code == 200
    assert client.post("/api/v1/sessions/", {"generate": {}}, content_type="application/json").status_code == 403
    assert "ci\tread\tuntil" in listed
    assert secret not in listed

    assert run("revoke", "--name", "ci").exit_code == 0
    assert client.get("/api/v1/sessions/").status_code == 401
    assert run("revoke", "--name", "ci").exit_code != 0


def test_a_token_of_an_unknown_user_is_refused():
    refused = run("create", "--name", "x", "--user", "nobody")

    assert refused.exit_code != 0
    assert "There is no user 'nobody'" in refused.output


@pytest.mark.parametrize("arguments", [("list",), ("revoke", "--name", "ci")])
def test_a_missing_data_folder_is_not_created(tmp_path, arguments):
    missing = tmp_path / "missing"

    refused = run(*arguments, "--data", str(missing))

    assert refused.exit_code == 2
    assert "does not exist" in refused.output
    assert not missing.exists()
