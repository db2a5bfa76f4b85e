"""Uploaded files before their import: encrypted rows in the database, with keys that exist only in memory."""
