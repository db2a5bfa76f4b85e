"""Sessions: their storage, the path of commands to an engine, and the path of the engine's events to viewers.

The database is the single source of truth. Redis holds wake-ups and the latest events, and may be lost at any time. `hosting`, `replay` and
the imports of `transfer` run in workers; modules that the web server uses do not import the engine.
"""
