"""Checkpoints: a simulation as bytes, and back. Not the scheduler's Snapshot."""
