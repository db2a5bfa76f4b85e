"""Scenarios for a real cluster and a session that follows it. See README.md."""
