"""What each command of a session does to a simulation."""
