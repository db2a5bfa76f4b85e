"""`schedviz experiment`: many variants of a scheduler, measured on one workload."""
