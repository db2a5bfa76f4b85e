"""Dry runs: what the scheduler would answer about a pod and every node, while nothing is changed."""
