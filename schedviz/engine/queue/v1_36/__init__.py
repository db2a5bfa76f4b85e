"""The scheduling queue of v1.36: queueing hints, pods and events in flight, and the two heaps of backoffQ."""

from schedviz.engine.queue.v1_36.priority_queue import PriorityQueue, SchedulingQueueState

__all__ = ["PriorityQueue", "SchedulingQueueState"]
