"""Executes the commands of a session on a simulation."""
