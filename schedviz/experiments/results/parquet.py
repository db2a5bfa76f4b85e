"""Results as Parquet: the columns of the CSV, with types. Needs pyarrow, the extra `schedviz[parquet]`."""

from __future__ import annotations

import io

from schedviz.experiments.results.document import Results


class ParquetUnavailable(Exception):
    """pyarrow is not installed. The text says how to install it."""


def require_pyarrow() -> None:
    """Raise `ParquetUnavailable` if pyarrow is not installed."""
    try:
        import pyarrow  # noqa: F401, ICN001
    except ImportError:
        raise ParquetUnavailable(
            "writing Parquet needs pyarrow: run pip install 'schedviz[parquet]', or write CSV, which most tools read"
        ) from None


def parquet_of(results: Results) -> bytes:
    """A row for each trial; numbers that a trial does not have are null. The plan and the version are in the file's metadata.

    Raises `ParquetUnavailable`.
    """
    require_pyarrow()
    import pyarrow as pa
    from pyarrow import parquet

    rows = results.trials
    columns = {
        "trial": pa.array([row.number for row in rows], pa.int64()),
        "variant": pa.array([row.variant for row in rows], pa.string()),
        "seed": pa.array([row.seed for row in rows], pa.int64()),
        "error": pa.array([row.error for row in rows], pa.string()),
        **{column.key: pa.array([row.values.get(column.key) for row in rows], pa.float64()) for column in results.columns},
    }
    metadata = {"schedviz": results.schedviz, "experiment": results.name, "plan": results.plan}
    out = io.BytesIO()
    parquet.write_table(pa.table(columns).replace_schema_metadata(metadata), out, compression="zstd")
    return out.getvalue()
