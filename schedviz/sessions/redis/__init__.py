"""Redis: wake-ups and calls for workers, the live event stream, heartbeats, single flight. Correctness never depends on it."""
