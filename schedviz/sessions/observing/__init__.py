"""Following a real cluster: observations as they arrive, the shadow scheduler, and the agreement rate."""
