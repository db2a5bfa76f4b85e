"""Reads the logs of kube-scheduler, including its SIGUSR2 dumps."""
