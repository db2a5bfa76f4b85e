"""What can go wrong in the cache."""


class CacheError(Exception):
    """A call that does not fit what the cache knows of a pod or node. The text is upstream's."""


class SchedulerExitError(Exception):
    """Upstream's scheduler would end its process here (klog.FlushAndExit). The text is what it logs last."""
