"""Scheduler extenders: as declared in a configuration, how they are called, and their wire format."""
