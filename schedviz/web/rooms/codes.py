"""The code of a room: eight characters that nobody takes for one another, and that spell no word."""

from __future__ import annotations

import secrets
from typing import Final

LENGTH: Final = 8
#: Without 0 O, 1 I L, 2 Z, 5 S, 8 B: of each the one is left out that is harder to tell; and without vowels.
ALPHABET: Final = "23456789CDFGHJKMNPQRTVWXY"


def new_code() -> str:
    """25⁸ there are, 1.5 · 10¹¹: with ten tries a minute nobody finds one."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def read_code(written: str) -> str:
    """The code that somebody wrote, with or without a hyphen, spaces and capitals."""
    return "".join(letter for letter in written.upper() if letter.isalnum())[: 4 * LENGTH]
