"""A Django database backend for SQLite that detects when the database's files are removed or replaced. Settings name it as `ENGINE`."""
