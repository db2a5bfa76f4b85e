"""A session's data model: commands, trace events, views, and the fold from events to a view.

`commands` are a user's requests, `events` the scheduler's actions, `view` the state that a page draws, and `fold` applies events to a view.
The engine produces events, sessions store them, the web folds them, and the front end's types are generated from them. So this package is
below all of those, and uses neither NumPy nor Django.
"""
