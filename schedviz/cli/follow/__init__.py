"""`schedviz follow`: watches a real cluster with the user's own credentials, only reading, and pushes what the scheduler reads of it."""
