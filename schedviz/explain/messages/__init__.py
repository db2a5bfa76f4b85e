"""What the messages of a scheduler mean."""
