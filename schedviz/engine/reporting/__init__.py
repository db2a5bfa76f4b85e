"""Reports on an engine: observed records, stage reports and timing, views, the scheduler's log and dump, why it is idle, kubectl's list."""
