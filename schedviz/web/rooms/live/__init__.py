"""Rooms over WebSockets: the teacher's moment, and what changed in the room."""
