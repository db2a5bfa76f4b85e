"""The overview of all pending pods, in groups by their reason."""
