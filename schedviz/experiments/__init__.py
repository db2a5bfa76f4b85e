"""Experiments: runs a workload under many variants of a scheduler and measures the results, so that a configuration is chosen by evidence.

A *plan* (`plan`, `plan_text`) names a base cluster, a workload, variants and measures. It is expanded to *trials*: one variant with one
seed, a whole run of the engine (`trials`, `run_trial`). *Measures* are numbers of a finished trial (`measures`). The *results* of all
trials can be compared with a baseline (`results`, `comparing`) and become a table, JSON, CSV or one HTML file (`report`). Nothing here
knows how trials are distributed: `pool` runs them in processes of this machine, `sessions.experiments` in Celery workers.
"""
