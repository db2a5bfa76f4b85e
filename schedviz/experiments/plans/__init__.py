"""Plans: which workload runs under which variants of a scheduler. Reading, expanding and validating them, and the trials of a plan."""
