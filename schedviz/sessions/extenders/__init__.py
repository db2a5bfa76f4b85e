"""Calling extenders: which addresses are allowed, the HTTP transport, and the recorded answers."""
