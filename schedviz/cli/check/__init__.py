"""`schedviz check`: whether a server can be run as it is configured."""
