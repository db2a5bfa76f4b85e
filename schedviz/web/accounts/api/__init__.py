"""REST of accounts."""
