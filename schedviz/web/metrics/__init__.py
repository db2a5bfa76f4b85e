"""`GET /metrics`: Prometheus metrics of every process and of every session's scheduler."""
