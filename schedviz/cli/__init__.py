"""The `schedviz` command. `main` is the entry point; every subcommand is a module of its own, imported only when it runs."""
