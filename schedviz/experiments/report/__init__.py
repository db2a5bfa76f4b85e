"""The report of an experiment: one HTML file without network access, with the results and the plan inside."""

from schedviz.experiments.report.html import html_report

__all__ = ["html_report"]
