"""Everything that is kept, in one file that either kind of database is filled from again (docs/operations.md, Backup)."""

from schedviz.web.backup.reading import read
from schedviz.web.backup.records import BackupError, Summary
from schedviz.web.backup.writing import write

__all__ = ["BackupError", "Summary", "read", "write"]
