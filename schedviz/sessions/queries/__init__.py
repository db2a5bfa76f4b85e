"""SQL that runs for nearly every request or command: prepared statements, keyset pagination, the database's clock."""
