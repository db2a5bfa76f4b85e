"""Dry runs: the scheduler's results for a pod and every node, without changing anything."""
