"""The state of a room, from which the body for each client is made."""

from __future__ import annotations

from uuid import UUID

from schedviz.web.rooms.membership import RoomMembership
from schedviz.web.rooms.models import Participant
from schedviz.web.rooms.state import load, load_computed
from tests.rooms.conftest import Classroom


def test_what_clients_share_is_computed_before_the_event_loop_makes_their_bodies(classroom: Classroom) -> None:
    classroom.student("ada")
    room_id = UUID(classroom.id)
    participant = RoomMembership(room_id, Participant.objects.get().pk)
    teacher = RoomMembership(room_id, None)
    computed, fresh = load_computed(room_id), load(room_id)
    assert computed is not None
    assert fresh is not None
    before = set(vars(computed))

    for membership in (teacher, participant):
        assert computed.body_for(membership, "https://host") == fresh.body_for(membership, "https://host")

    assert set(vars(computed)) == before
