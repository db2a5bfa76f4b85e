"""A Django database backend for PostgreSQL with less work per request and row. Settings name it as `ENGINE`."""
