"""Limits what one import may decompress and open. Everything counts when it is read or opened, even if it is refused or left out later."""

from __future__ import annotations

from schedviz.ingest.errors import LimitExceeded
from schedviz.ingest.limits import Limits


class BudgetExhausted(LimitExceeded):
    """A limit of the whole import was exceeded, so no more files are read."""


def too_many_members(name: str, limits: Limits) -> BudgetExhausted:
    """The archive has too many files."""
    return BudgetExhausted(name, "there are too many files in the archive", "archive_members", limits.archive_members)


class Budget:
    """Counts the bytes and files of one import against its limits."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        #: Decompressed bytes of files.
        self._unpacked = 0
        #: Bytes of archives, including skipped members.
        self._of_archives = 0
        #: Files in archives, including skipped ones.
        self._members = 0
        #: Files in archives that were opened.
        self._opened = 0
        #: The first exceeded limit.
        self.exhausted: BudgetExhausted | None = None

    def count_unpacked(self, name: str, count: int) -> None:
        """Count bytes that will be read as a file. Raises `BudgetExhausted`."""
        self._unpacked += count
        self._require_within_limit(name, "unpacked, the files are too large", "unpacked_bytes", self._unpacked)

    def count_archive_bytes(self, name: str, count: int) -> None:
        """Count bytes of an archive, or bytes that are read a second time. Raises `BudgetExhausted`."""
        self._of_archives += count
        self._require_within_limit(name, "unpacked, the archives are too large", "archive_bytes", self._of_archives)

    def count_member(self, name: str) -> None:
        """Count a file of an archive, read or skipped. Raises `BudgetExhausted`."""
        self._members += 1
        if self._members > self._limits.archive_members:
            raise self._remembered(too_many_members(name, self._limits))

    def count_opened(self, name: str, size: int) -> None:
        """Count a file of an archive that will be read. Raises `BudgetExhausted`."""
        self._opened += 1
        self._require_within_limit(name, "there are too many files to read in the archive", "archive_files", self._opened)
        self.count_unpacked(name, size)

    def _require_within_limit(self, name: str, what: str, setting: str, count: int) -> None:
        allowed: int = getattr(self._limits, setting)
        if count > allowed:
            raise self._remembered(BudgetExhausted(name, what, setting, allowed))

    def _remembered(self, exhausted: BudgetExhausted) -> BudgetExhausted:
        self.exhausted = self.exhausted or exhausted
        return exhausted
