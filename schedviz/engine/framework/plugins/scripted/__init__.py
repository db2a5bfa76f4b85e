"""A plugin specific to schedviz, off by default, with scripted results."""
