"""The progress of users in lessons."""
