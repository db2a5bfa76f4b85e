"""What is measured: kube-scheduler's own metrics of each session's engine, and ours of the service (docs/operations.md, Metrics)."""
