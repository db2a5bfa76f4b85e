"""Replaying stored commands on an engine: from a checkpoint to an event, with a determinism check and full cycle details."""
