"""Hosting engines in an engine worker: the lease, slots, applying commands in slices, and committing each slice."""
