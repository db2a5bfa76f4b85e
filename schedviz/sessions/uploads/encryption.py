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


class DecryptionError(ValueError):
    """The data was not encrypted with this key, or was encrypted for another session or position."""


def new_key() -> bytes:
    """A key for the uploads of one session."""
    return secrets.token_bytes(_KEY_BYTES)


class UploadCipher:
    """Encrypts and decrypts the chunks of one session's files. Each position (file and number) may be encrypted only once."""

    def __init__(self, key: bytes, session_id: UUID) -> None:
        self._cipher = AESGCM(key)
        self._session = session_id.bytes

    def encrypt(self, data: bytes, file: int, number: int) -> bytes:
        """Encrypt a chunk."""
        nonce = _nonce(file, number)
        return self._cipher.encrypt(nonce, data, self._session + nonce)

    def decrypt(self, data: bytes, file: int, number: int) -> bytes:
        """Decrypt a chunk. Raises `DecryptionError`."""
        nonce = _nonce(file, number)
        try:
            return self._cipher.decrypt(nonce, data, self._session + nonce)
        except InvalidTag:
            raise DecryptionError from None


def _nonce(file: int, number: int) -> bytes:
    return file.to_bytes(4) + number.to_bytes(8)
