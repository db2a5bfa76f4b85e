"""Pods that wait to be scheduled: ready, backing off or unschedulable, and those nominated to a node. Upstream: internal/queue."""

from schedviz.engine.queue.nominator import Nominator
from schedviz.engine.queue.scheduling_queue import SchedulingQueue, SchedulingQueueState

__all__ = ["Nominator", "SchedulingQueue", "SchedulingQueueState"]
