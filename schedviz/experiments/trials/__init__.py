"""Running trials, here or in processes, and what is recorded and kept of one."""
