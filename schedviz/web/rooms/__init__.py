"""Rooms: a teacher presents a session to participants, who join with a code and a nickname."""
