"""`GET /metrics`: what Prometheus asks for, of every process and of every session's scheduler."""
