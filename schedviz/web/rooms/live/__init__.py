"""The WebSocket of rooms: the teacher's position, and changes of the room."""
