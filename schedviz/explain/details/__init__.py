"""The numbers behind each clause of a FitError: what the pod requires, what the nodes have, and which nodes are nearest.

`clause_details` is the entry point; one module per kind of reason.
"""
