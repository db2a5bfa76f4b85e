"""Rooms: a teacher's session before many, who come with a nickname and a code."""
