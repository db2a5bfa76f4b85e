"""Analysis requests that an io worker answers on an engine of its own: explain, what-if, dump, compare."""
