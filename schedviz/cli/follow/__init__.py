"""`schedviz follow`: watches a real cluster with the user's own credentials and read-only access, and pushes what the scheduler reads."""
