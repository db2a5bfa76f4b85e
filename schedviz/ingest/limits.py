"""How much an import may take."""

from __future__ import annotations

import msgspec

GIB = 1 << 30
MIB = 1 << 20


class Limits(msgspec.Struct, frozen=True):
    """Each is named in the message when it is hit."""

    #: All files together, unpacked.
    unpacked_bytes: int = GIB
    #: Objects that are kept.
    objects: int = 300_000
    #: Objects, lists and maps inside one another.
    nesting_depth: int = 100
    #: One document or List item of YAML: reading it takes 80 times its size in memory.
    yaml_document_bytes: int = 4 * MIB
    #: Files in one import.
    files: int = 1000
    #: Files in all archives, also those that are passed over.
    archive_members: int = 100_000
    #: Files in all archives that are read.
    archive_files: int = 20_000
    #: All archives, unpacked, with what is passed over in them and what is read a second time.
    archive_bytes: int = 16 * GIB


#: For a server that strangers may use.
PUBLIC = Limits(unpacked_bytes=64 * MIB, objects=50_000, archive_bytes=GIB)
