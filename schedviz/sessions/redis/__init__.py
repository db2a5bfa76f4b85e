"""Redis: wake-ups for workers, the live event stream, worker heartbeats, single flight. Nothing in it is needed for correctness."""
