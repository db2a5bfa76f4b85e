"""Celery integration: signals of worker processes and tasks, the guard of tasks, and the consumer's reconnect policy."""
