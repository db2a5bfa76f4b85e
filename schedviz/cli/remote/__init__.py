"""The words of `schedviz.client` as commands: sessions of a running server, from a shell."""
