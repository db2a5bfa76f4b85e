"""Encryption of what is uploaded: the database gets nothing else, and the key is deleted when the import has ended.

See docs/decisions/0010-uploads-are-encrypted.md.
"""

from __future__ import annotations

import secrets
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

#: So much longer is what is sealed.
OVERHEAD_BYTES = 16
_KEY_BYTES = 32


class SealBroken(ValueError):  # noqa: N818 (says what it is)
    """This was not sealed with this key, or for another session or place."""


def new_key() -> bytes:
    """A key for the uploads of one session."""
    return secrets.token_bytes(_KEY_BYTES)


class Seal:
    """Encrypts and decrypts the pieces of one session's files. Each place (file and number) may be sealed once."""

    def __init__(self, key: bytes, session_id: UUID) -> None:
        self._cipher = AESGCM(key)
        self._session = session_id.bytes

    def seal(self, data: bytes, file: int, number: int) -> bytes:
        """The piece as it is stored."""
        place = _place(file, number)
        return self._cipher.encrypt(place, data, self._session + place)

    def unseal(self, data: bytes, file: int, number: int) -> bytes:
        """The piece as it was. Raises `SealBroken`."""
        place = _place(file, number)
        try:
            return self._cipher.decrypt(place, data, self._session + place)
        except InvalidTag:
            raise SealBroken from None


def _place(file: int, number: int) -> bytes:
    return file.to_bytes(4) + number.to_bytes(8)
