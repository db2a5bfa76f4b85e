"""Celery integration: the consumer's reconnect policy and the task signals."""
