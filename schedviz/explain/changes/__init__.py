"""The smallest change that places a pod: candidates, each verified by a dry run."""

from schedviz.explain.changes.change import Change, ChangeKind
from schedviz.explain.changes.search import SmallestChange, Suggestion
from schedviz.explain.changes.smallest import smallest_change

__all__ = ["Change", "ChangeKind", "SmallestChange", "Suggestion", "smallest_change"]
