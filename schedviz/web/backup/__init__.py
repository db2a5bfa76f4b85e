"""Backups: all stored data in one file, which can be restored into either kind of database (docs/operations.md, Backup)."""

from schedviz.web.backup.records import BackupError, Summary
from schedviz.web.backup.restoring import restore
from schedviz.web.backup.writing import write

__all__ = ["BackupError", "Summary", "restore", "write"]
