"""Errors of the cache."""


class CacheError(Exception):
    """A call that contradicts the cache's state of a pod or node. The text is upstream's."""


class SchedulerExitError(Exception):
    """Upstream's scheduler would exit here (klog.FlushAndExit). The text is its last log message."""
