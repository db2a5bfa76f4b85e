"""What a trial runs with: the base cluster with a variant's nodes, and the workload's pods with when they arrive and end."""
