"""The scheduling queue: pods that are ready, backing off or unschedulable, and nominated pods. Upstream: backend/queue."""

from schedviz.engine.queue.interface import SchedulingQueue
from schedviz.engine.queue.nominator import Nominator

__all__ = ["Nominator", "SchedulingQueue"]
