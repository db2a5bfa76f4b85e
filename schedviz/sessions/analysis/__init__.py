"""Analysis requests (explain, what-if, dump, compare), which an io worker runs on its own copy of the engine."""
