"""Live sessions over WebSockets."""
