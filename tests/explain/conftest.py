"""Makes tests/explain/small_clusters.py importable as `explain_clusters`."""

import importlib.util
import sys
from pathlib import Path

_spec = importlib.util.spec_from_file_location("explain_clusters", Path(__file__).with_name("small_clusters.py"))
assert _spec is not None
assert _spec.loader is not None
_module = sys.modules.setdefault(_spec.name, importlib.util.module_from_spec(_spec))
_spec.loader.exec_module(_module)
