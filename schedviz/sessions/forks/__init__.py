"""Forks: requesting one, and building its engine in an io worker."""
