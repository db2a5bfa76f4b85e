"""Capacity of a cluster: how many more pods fit (`fit`), the fewest nodes that hold its pods (`minimum_nodes`), and what a failure leaves
without a node (`losses`). Every answer is a run of the engine.
"""
