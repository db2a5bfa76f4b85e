"""Uploaded files until they are imported: encrypted rows in the database, with keys that exist in memory only."""
