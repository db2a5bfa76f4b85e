"""The scheduling queue of v1.27.1."""

from schedviz.engine.queue.v1_27.priority_queue import PriorityQueue, SchedulingQueueState

__all__ = ["PriorityQueue", "SchedulingQueueState"]
