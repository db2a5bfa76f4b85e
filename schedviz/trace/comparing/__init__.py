"""Compares two runs: where pods are, where the runs diverge, how scores differ there, node utilisation, and why pods are pending.

It needs only views and events, so the same code compares stored sessions, files and runs in memory.
"""

from schedviz.trace.comparing.compare import compare
from schedviz.trace.comparing.in_memory import RunInMemory
from schedviz.trace.comparing.result import Comparison
from schedviz.trace.comparing.side import Side, Summary

__all__ = ["Comparison", "RunInMemory", "Side", "Summary", "compare"]
