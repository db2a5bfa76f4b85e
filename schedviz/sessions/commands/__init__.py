"""Accepting commands into a session's inbox, their stored form, and breakpoints."""
