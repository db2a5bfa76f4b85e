"""Why `schedviz up` does not start, in sentences for people."""

from __future__ import annotations


class CannotStart(Exception):  # noqa: N818 (it is read as a sentence)
    """Something on this machine is in the way. The message says what, and what to do."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines
