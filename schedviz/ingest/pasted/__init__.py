"""Finds messages about pending pods in text that somebody copied from anywhere."""
