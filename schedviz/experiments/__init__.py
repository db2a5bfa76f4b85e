"""Experiments: runs a workload under many variants of a scheduler and measures the results, so that a configuration is chosen by evidence.

A *plan* (`plans`) names a base cluster, a workload, variants and measures. It is expanded to *trials*: one variant with one seed, a whole
run of the engine (`inputs`, `trials`). *Measures* are numbers of a finished trial (`measures`). The *results* of all trials can be compared
with a baseline and become a table, JSON, CSV (`results`) or one HTML file (`report`). `tuning` searches for a variant, `capacity` for the
nodes that a workload needs. Nothing here knows how trials are distributed: `trials.pool` runs them in processes of this machine,
`sessions.experiments` in Celery workers.
"""
