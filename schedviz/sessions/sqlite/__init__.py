"""Django's way to SQLite, which notices that the database's files were removed or replaced: settings name it as `ENGINE`."""
