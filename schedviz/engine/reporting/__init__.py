"""What an engine reports. `stage_report` and `stage_timing` are written by the cycles; the other modules read a finished state or cycle."""
