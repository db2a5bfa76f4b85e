"""Explains the messages in a text without a cluster."""
