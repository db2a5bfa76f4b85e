"""Redis: wake-ups for workers, the live event stream, worker heartbeats, single flight. Correctness never depends on it."""
