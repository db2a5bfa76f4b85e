"""What is stored of a session's past, and reading it: chunks, cycles, checkpoints, timeline, the history of one object."""
