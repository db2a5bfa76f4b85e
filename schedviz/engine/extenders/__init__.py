"""Scheduler extenders: their configuration, calls and wire format."""
