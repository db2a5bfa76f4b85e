"""Measures: small functions from a finished trial to numbers. `registry` finds them; each other module has those of one subject.

A user's measure is an entry point of the group `schedviz.measures` (docs/experiments.md#measures-of-your-own).
"""

from schedviz.experiments.measure_info import MeasureInfo
from schedviz.experiments.measures.measure import Measure, MeasureError, Values, measure
from schedviz.experiments.measures.registry import built_in_measures, measures_named

__all__ = ["Measure", "MeasureError", "MeasureInfo", "Values", "built_in_measures", "measure", "measures_named"]
