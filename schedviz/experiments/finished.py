"""Deprecated alias of `schedviz.experiments.finished_trial`, for measures that were written for 0.1."""

from __future__ import annotations

from schedviz.experiments.finished_trial import FinishedTrial

__all__ = ["FinishedTrial"]
