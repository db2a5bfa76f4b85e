"""`schedviz check`: verifies the configuration of a server and its connections."""
