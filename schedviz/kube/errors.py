"""Errors in objects."""

from __future__ import annotations


class KubeError(ValueError):
    """Invalid input: the base of this package's errors. The message is for the person who supplied the input."""


class DecodeError(KubeError):
    """An invalid value.

    `path` is its position (`spec.containers[0].image`), `found` the value, `expected` the valid values; the message reads `path: expected
    …, found …`.
    """

    def __init__(self, path: str, expected: str, found: str = "", *, message: str = "") -> None:
        self.path = path
        self.expected = expected
        self.found = found
        self.message = message or f"expected {expected}, found {found}"
        super().__init__(f"{path}: {self.message}" if path else self.message)

    def inside(self, prefix: str) -> DecodeError:
        """The same error for an object at `prefix` of a larger document."""
        joined = f"{prefix}.{self.path}" if prefix and self.path and not self.path.startswith("[") else f"{prefix}{self.path}"
        return type(self)(joined, self.expected, self.found, message=self.message)


class UnknownKindError(DecodeError):
    """An object of a kind or version that the scheduler does not read. `kind` is the object's."""

    def __init__(self, path: str, expected: str, found: str = "", *, message: str = "", kind: str = "") -> None:
        super().__init__(path, expected, found, message=message)
        self.kind = kind

    def inside(self, prefix: str) -> UnknownKindError:
        """The same error for an object at `prefix` of a larger document."""
        inner = super().inside(prefix)
        return UnknownKindError(inner.path, self.expected, self.found, message=self.message, kind=self.kind)
