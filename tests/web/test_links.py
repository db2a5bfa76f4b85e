"""Share links over REST."""

from __future__ import annotations

from schedviz.sessions.models import ShareLink
from schedviz.web import share
from tests.web.conftest import People


def test_a_session_has_at_most_100_active_share_links(people: People) -> None:
    owner, address = people.client("owner-token"), f"/api/v1/sessions/{people.session.pk}/links/"
    first = owner.post(address, {}, format="json", headers={"Idempotency-Key": "first"}).json()
    live = len(share.live_links(people.session))
    ShareLink.objects.bulk_create(
        ShareLink(session=people.session, digest=f"{number:064x}", role="viewer", created_by=people.owner) for number in range(100 - live)
    )

    refused = owner.post(address, {}, format="json")
    again = owner.post(address, {}, format="json", headers={"Idempotency-Key": "first"})
    owner.delete(f"{address}{first['id']}/")
    created = owner.post(address, {}, format="json")

    assert (refused.status_code, refused.json()["code"]) == (409, "quota_reached")
    assert refused.json()["detail"] == "This session has 100 active share links, which is the limit; revoke some."
    assert (again.status_code, again.json()["id"]) == (200, first["id"])
    assert created.status_code == 201
