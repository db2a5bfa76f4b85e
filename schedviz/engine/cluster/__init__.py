"""The simulated API server: objects, admission, bindings, and watch events with latency.

It is the scheduler's environment: it carries out the scheduler's instructions and sends watch events to its informers.
"""

from schedviz.engine.cluster.cluster import Cluster
from schedviz.engine.cluster.refusals import Refusal
from schedviz.engine.cluster.watch import WatchEvent

__all__ = ["Cluster", "Refusal", "WatchEvent"]
