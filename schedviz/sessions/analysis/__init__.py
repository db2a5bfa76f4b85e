"""Analysis requests (explain, what-if, dump, compare), which an io worker answers with its own copy of the engine."""
