"""Everything of schedviz on one machine, with one command: a small supervisor whose children are Redis, workers and the web server.

`run.run(UpOptions)` is the whole of it. The supervisor itself imports neither Django nor Celery, so it starts at once and
stays small; what needs the database runs in a child, the housekeeper.
"""
