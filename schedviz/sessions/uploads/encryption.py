"""Encrypts uploads. The database contains only ciphertext, and the key is deleted when the import has ended.

See docs/decisions/0010-uploads-are-encrypted.md.
"""

from __future__ import annotations

import secrets
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

#: How many bytes encryption adds.
OVERHEAD_BYTES = 16
_KEY_BYTES = 32


class SealBroken(ValueError):
    """The data was not sealed with this key, or was sealed for another session or position."""


def new_key() -> bytes:
    """A key for the uploads of one session."""
    return secrets.token_bytes(_KEY_BYTES)


class Seal:
    """Encrypts and decrypts the pieces of one session's files. Each position (file and number) may be sealed only once."""

    def __init__(self, key: bytes, session_id: UUID) -> None:
        self._cipher = AESGCM(key)
        self._session = session_id.bytes

    def seal(self, data: bytes, file: int, number: int) -> bytes:
        """Encrypt a piece."""
        nonce_input = _place(file, number)
        return self._cipher.encrypt(nonce_input, data, self._session + nonce_input)

    def unseal(self, data: bytes, file: int, number: int) -> bytes:
        """Decrypt a piece. Raises `SealBroken`."""
        nonce_input = _place(file, number)
        try:
            return self._cipher.decrypt(nonce_input, data, self._session + nonce_input)
        except InvalidTag:
            raise SealBroken from None


def _place(file: int, number: int) -> bytes:
    return file.to_bytes(4) + number.to_bytes(8)
