"""Reasons why `schedviz up` cannot start."""

from __future__ import annotations


class CannotStart(Exception):
    """Something on this machine prevents the start. The message says what, and what to do."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines
