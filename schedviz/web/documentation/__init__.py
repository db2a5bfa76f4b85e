"""`/docs/`: the documentation of this version as pages, for everybody, with no network: the Markdown files of docs/."""
