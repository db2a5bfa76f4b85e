"""The results of an experiment: the document, its tables and files, and the sentences that say which variant to choose."""

from schedviz.experiments.results.document import Results, decode_results

__all__ = ["Results", "decode_results"]
