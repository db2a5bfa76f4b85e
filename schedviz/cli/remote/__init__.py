"""Commands for the sessions of a running server, based on `schedviz.client`."""
