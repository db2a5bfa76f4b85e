"""A part of a session as a recording, over REST: a worker runs it."""

from __future__ import annotations

from uuid import UUID

from tests.conftest import Worker, until
from tests.sessions.conftest import send
from tests.web.conftest import LiveServer, People


def test_a_part_of_a_session_is_downloaded_as_a_recording(
    people: People, web_server: LiveServer, engine_worker: Worker, io_worker: Worker
) -> None:
    owner = people.client("owner")
    made = owner.post("/api/v1/sessions/", {"name": "My cluster / 1", "generate": {"nodes": 2, "pods": 3}}, format="json").json()
    ran = UUID(made["id"])
    until(lambda: owner.get(f"/api/v1/sessions/{ran}/").json()["status"] == "ready")
    send(ran, "run")
    until(lambda: owner.get(f"/api/v1/sessions/{ran}/").json()["cycle"] == 3)
    first, second, _ = owner.get(f"/api/v1/sessions/{ran}/cycles/").json()["results"]
    query = {"format": "trace", "from": first["lastEvent"], "to": second["lastEvent"], "observed": "1"}

    response = owner.get(f"/api/v1/sessions/{ran}/export/", query)

    assert response["Content-Disposition"] == 'attachment; filename="My-cluster-1.json"'
    last = response.json()["steps"][-1]
    assert (last["op"], last["max"]) == ("run", 1)
    assert [(cycle["pod"], cycle["node"]) for cycle in last["observed"]["cycles"]] == [(second["pod"], second["node"])]
