"""What the scheduler tells of itself on SIGUSR2: a dump of cache and queue, and how the cache differs from the API server."""
