"""The scheduling queue: activeQ, backoffQ and unschedulablePods, and nominated pods. Upstream: backend/queue."""

from schedviz.engine.queue.interface import SchedulingQueue
from schedviz.engine.queue.nominator import Nominator

__all__ = ["Nominator", "SchedulingQueue"]
