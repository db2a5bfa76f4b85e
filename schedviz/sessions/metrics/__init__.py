"""Metrics: those of kube-scheduler for each session's engine, and those of the service (docs/operations.md, Metrics)."""
