"""Accepting commands into a session's inbox, the form in which they are stored, and its breakpoints."""
