"""Checkpoints: saves and restores a simulation. Not to be confused with the scheduler's Snapshot."""
