"""The `schedviz` command. `main` is the entry point and lists all subcommands; a subcommand is imported only when it runs."""
