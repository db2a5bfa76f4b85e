"""Sources for the tests of ingest."""

from pathlib import Path

from schedviz.ingest.files.source import Source
from schedviz.ingest.limits import Limits
from schedviz.ingest.load import Import, load

SAMPLES = Path(__file__).parents[1] / "samples"


def source(data: bytes | str, name: str = "dump") -> Source:
    return Source.of_bytes(name, data if isinstance(data, bytes) else data.encode())


def imported(*files: bytes | str, limits: Limits | None = None) -> Import:
    """The result of reading the files `dump` (or `dump-1`, `dump-2`, …)."""
    names = ["dump"] if len(files) == 1 else [f"dump-{number}" for number in range(1, len(files) + 1)]
    return load([source(data, name) for data, name in zip(files, names, strict=True)], limits or Limits())


def sample(*names: str) -> Import:
    return load([Source.of_path(SAMPLES / name) for name in names])


def keys(result: Import) -> list[str]:
    return [f"{type(obj).__name__} {obj.key}" for obj in result.objects]
