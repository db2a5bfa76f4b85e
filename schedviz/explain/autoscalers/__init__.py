"""Explains what Karpenter and the cluster autoscaler say about a pending pod, and joins it with the scheduler's message."""
