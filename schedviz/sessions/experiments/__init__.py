"""Experiments on a server: their plans and trials in the database, and the Celery tasks that run them.

`requests` accepts, pauses and cancels experiments, and `reading` gives their state and results, in the web server. `checking` and
`trial_job` run in workers of the queue `experiments`. `trial_lease` holds the guarantee that each trial is counted once. `dispatch`
enqueues tasks, also those that were lost.
"""
