"""Reads scheduler configurations of all versions, and policies."""
