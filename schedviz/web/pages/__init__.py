"""Pages: the shell of the front end, and logins."""
