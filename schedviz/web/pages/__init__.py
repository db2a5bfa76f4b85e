"""Pages: a shell for the front end, and logging in."""
