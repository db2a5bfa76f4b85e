"""Tuning: searches a space of variants for the one that makes a measure smallest or largest, under constraints.

`space` turns the values that a search chooses into variants, `goal` says how good a variant is, and `search` lets Optuna choose.
"""
