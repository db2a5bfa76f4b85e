"""Measurements of the whole product as it runs; `python -m tests.bench` prints them. Nothing here asserts a time."""
