"""Reads and generates clusters: dumps, manifests, traces and generator parameters become Kubernetes objects.

`load.load` reads files, `generate.generate` creates clusters. Both return objects that the engine can load. Invalid input raises
`errors.IngestError`, whose message is written for the person who supplied the files. This module imports nothing: the web server uses
`limits`, `generate` and `trace_file`, and must not load the engine, which the readers need.
"""
