"""Storing and reading a session's past: chunks, cycles, checkpoints, the timeline, and the history of single objects."""
