"""What can be wrong with an object that is read."""

from __future__ import annotations


class KubeError(ValueError):
    """Bad input: the root of this package's errors. The text is for the person who gave the input."""


class DecodeError(KubeError):
    """A value that does not fit where it stands.

    `path` is where (`spec.containers[0].image`), `found` what is there, `expected` what should be; the message reads
    `path: expected …, found …`.
    """

    def __init__(self, path: str, expected: str, found: str = "", *, message: str = "") -> None:
        self.path = path
        self.expected = expected
        self.found = found
        self.message = message or f"expected {expected}, found {found}"
        super().__init__(f"{path}: {self.message}" if path else self.message)

    def inside(self, prefix: str) -> DecodeError:
        """The same error, of an object that lies at `prefix` in something larger."""
        joined = f"{prefix}.{self.path}" if prefix and self.path and not self.path.startswith("[") else f"{prefix}{self.path}"
        return type(self)(joined, self.expected, self.found, message=self.message)


class UnknownKindError(DecodeError):
    """An object of a kind or version that the scheduler does not read."""
