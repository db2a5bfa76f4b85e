"""`schedviz up`: everything on one machine. A small supervisor runs Redis, the workers and the web server as its children.

`run.run(UpOptions)` is the entry point. The supervisor imports neither Django nor Celery, so it starts quickly and stays small. A child,
the housekeeper, does the work that needs the database.
"""
