"""The language of a session: commands go in, trace events come out, a view is what they add up to.

`commands` are what a user asks for, `events` what the scheduler did, `view` the state that a page draws, and `fold` applies
events to a view. The engine speaks this language, sessions store it, the web folds it and the front end is generated
from it. So it stands below all of them, and knows neither NumPy nor Django.
"""
