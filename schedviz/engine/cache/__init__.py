"""The scheduler's cache of nodes and assigned pods, and the snapshot that cycles read. Upstream: internal/cache."""

from schedviz.engine.cache.cache import Cache, CacheDump
from schedviz.engine.cache.errors import CacheError, SchedulerExitError
from schedviz.engine.cache.snapshot import Snapshot, SnapshotUpdate

__all__ = ["Cache", "CacheDump", "CacheError", "SchedulerExitError", "Snapshot", "SnapshotUpdate"]
