"""The scheduler's output on SIGUSR2: a dump of cache and queue, and the differences between cache and API server."""
