"""Two runs side by side: where pods ended up, where the runs part, how scores differ there, how full nodes are, why pods wait.

It needs views and events alone, so that stored sessions, files and runs in memory are compared by the same code.
"""

from schedviz.trace.comparing.compare import compare
from schedviz.trace.comparing.in_memory import RunInMemory
from schedviz.trace.comparing.result import Comparison
from schedviz.trace.comparing.side import Side, Summary, no_detail

__all__ = ["Comparison", "RunInMemory", "Side", "Summary", "compare", "no_detail"]
