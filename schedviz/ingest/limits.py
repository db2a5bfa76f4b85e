"""The limits of an import."""

from __future__ import annotations

import msgspec

GIB = 1 << 30
MIB = 1 << 20


class Limits(msgspec.Struct, frozen=True):
    """The limits. The error names the one that was exceeded."""

    #: Bytes of all files, decompressed.
    unpacked_bytes: int = GIB
    #: Objects that are kept.
    objects: int = 300_000
    #: The depth of nested objects, lists and maps.
    nesting_depth: int = 100
    #: Bytes of one document or List item in YAML, because parsing takes 80 times its size in memory.
    yaml_document_bytes: int = 4 * MIB
    #: Files in one import.
    files: int = 1000
    #: Files in all archives, including skipped ones.
    archive_members: int = 100_000
    #: Files in all archives that are read, or in all folders.
    archive_files: int = 20_000
    #: Decompressed bytes of all archives, including skipped members and what is read a second time.
    archive_bytes: int = 16 * GIB
