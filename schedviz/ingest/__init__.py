"""The outside world into Kubernetes objects: dumps, manifests, traces, and made-up clusters.

`load` reads files, `generate` makes clusters; both give objects that the engine can load. Everything that is wrong with an input is
an `IngestError` whose text is for the person who gave it.
"""

from schedviz.ingest.errors import BadObjects, ImportCancelled, IngestError, LimitExceeded, Problem, UnreadableFile
from schedviz.ingest.generate import GenerateRefused, GenerateSpec, generate, parse_generate_spec
from schedviz.ingest.limits import PUBLIC, Limits
from schedviz.ingest.load import Import, Progress, load
from schedviz.ingest.report import Dropped, FileReport, Report
from schedviz.ingest.source import Source
from schedviz.ingest.trace_file import TraceFile, decode_trace, trace_from_dict

__all__ = [
    "PUBLIC",
    "BadObjects",
    "Dropped",
    "FileReport",
    "GenerateRefused",
    "GenerateSpec",
    "Import",
    "ImportCancelled",
    "IngestError",
    "LimitExceeded",
    "Limits",
    "Problem",
    "Progress",
    "Report",
    "Source",
    "TraceFile",
    "UnreadableFile",
    "decode_trace",
    "generate",
    "load",
    "parse_generate_spec",
    "trace_from_dict",
]
