"""SQL for nearly every request and command: prepared statements, keyset pagination, and the database's clock."""
