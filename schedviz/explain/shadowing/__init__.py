"""Compares the decisions of a real scheduler with those that this engine would make."""
