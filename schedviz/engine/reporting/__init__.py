"""Reports on an engine's cycles: observed records, stage reports, views, the scheduler's log, stage timing."""
