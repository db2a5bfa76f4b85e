"""The simulated API server: objects, admission, bindings, and watch events with latency.

It is the outside of the scheduler: it carries out the scheduler's instructions and tells its informers what changed.
"""

from schedviz.engine.cluster.cluster import Cluster, Refusal
from schedviz.engine.cluster.watch import WatchEvent

__all__ = ["Cluster", "Refusal", "WatchEvent"]
