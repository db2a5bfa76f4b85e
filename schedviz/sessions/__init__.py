"""Sessions: their storage, the way of commands to an engine, and the way of its events to the pages.

The database is the single source of truth. Redis has wake-ups and the latest events, and may be lost at any time. `hosting`, `replay`, and
the imports of `transfer` run in workers; modules that the web server uses do not import the engine.
"""
