"""Answers questions about a session: why a pod is pending, which change would place it, how many more pods would fit.

The functions take an engine (`Simulation`) that belongs to the caller and do not change the session. This module imports nothing: the
web server uses `shadowing.judgement` and `explanation`, and must not load the engine.
"""
