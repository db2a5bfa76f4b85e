"""The scheduling queue: pods that are ready, backing off or unschedulable, and nominated pods. Upstream: internal/queue."""

from schedviz.engine.queue.nominator import Nominator
from schedviz.engine.queue.scheduling_queue import SchedulingQueue, SchedulingQueueState

__all__ = ["Nominator", "SchedulingQueue", "SchedulingQueueState"]
