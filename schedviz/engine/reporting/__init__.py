"""What an engine reports of its cycles: observed records, stage reports, views, the scheduler's log, stage timing."""
