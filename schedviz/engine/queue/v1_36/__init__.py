"""The scheduling queue of v1.36: queueing hints, pods and events in flight, and two heaps for pods that back off."""

from schedviz.engine.queue.v1_36.priority_queue import PriorityQueue, SchedulingQueueState

__all__ = ["PriorityQueue", "SchedulingQueueState"]
