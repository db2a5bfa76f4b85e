"""The cost of the largest clusters: reading a dump, holding it, saving it and loading it again, in its own process to measure the peak."""

from __future__ import annotations

import gc
import resource
import statistics
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from schedviz.cli.bench.kubectl_dump import Format, kubectl_dump
from schedviz.cli.bench.measure import calibrate, clock, peak_megabytes
from schedviz.engine import Simulation, SimulationSettings
from schedviz.ingest.files.source import Source
from schedviz.ingest.load import load


class ImportRow(msgspec.Struct, frozen=True):
    """A dump with this number of nodes and pods. Seconds, and megabytes of 2**20 bytes."""

    form: str
    nodes: int
    pods: int
    text_mb: float
    #: From bytes to objects.
    read_seconds: float
    #: The peak memory of the process until then.
    read_peak_mb: float
    #: From objects to an engine that can be stepped.
    load_seconds: float
    #: The growth of the process since before the import, with the objects only in the engine.
    engine_mb: float
    #: The first checkpoint, which also packs the imported objects, and each later one; compressed as stored.
    checkpoint_first_ms: float
    checkpoint_write_ms: float
    #: Until the engine can be stepped again.
    checkpoint_read_ms: float
    checkpoint_mb: float
    #: At 5,000 nodes, between the phases.
    calibration_ms: float


def measure_import(form: Format, *, nodes: int, pods: int) -> ImportRow:
    """Write a dump, and read it in another process."""
    with tempfile.TemporaryDirectory(prefix="schedviz-bench-") as folder:
        path = Path(folder) / f"dump.{form}"
        with path.open("wb") as file:
            file.writelines(kubectl_dump(nodes, pods, form, pending=min(1000, pods // 10)))
        done = subprocess.run(  # noqa: S603  (this program)
            [sys.executable, "-m", "schedviz.cli.bench.importing", form, str(nodes), str(pods), str(path)],
            capture_output=True,
            check=True,
        )
    return msgspec.json.decode(done.stdout, type=ImportRow)


def _measured(form: str, nodes: int, pods: int, path: Path) -> ImportRow:
    calibrations = [calibrate(pods=300)]
    before = _megabytes()
    seconds, imported = _timed(lambda: load([Source.of_path(path)]))
    read_peak = peak_megabytes()
    calibrations.append(calibrate(pods=300))
    simulation = Simulation(SimulationSettings())
    load_seconds, _ = _timed(partial(simulation.load, imported.objects))
    del imported
    gc.collect()
    engine_mb = _megabytes() - before
    calibrations.append(calibrate(pods=300))
    first_seconds, _ = _timed(partial(_saved, simulation))
    calibrations.append(calibrate(pods=300))
    write_seconds, saved = _timed(partial(_saved, simulation))
    del simulation
    gc.collect()
    read_seconds, _ = _timed(lambda: Simulation.restore(zlib.decompress(saved)))
    calibrations.append(calibrate(pods=300))
    return ImportRow(
        form=form,
        nodes=nodes,
        pods=pods,
        text_mb=round(path.stat().st_size / (1 << 20), 1),
        read_seconds=round(seconds, 2),
        read_peak_mb=round(read_peak, 1),
        load_seconds=round(load_seconds, 2),
        engine_mb=round(engine_mb, 1),
        checkpoint_first_ms=round(first_seconds * 1000, 1),
        checkpoint_write_ms=round(write_seconds * 1000, 1),
        checkpoint_read_ms=round(read_seconds * 1000, 1),
        checkpoint_mb=round(len(saved) / (1 << 20), 2),
        calibration_ms=round(statistics.median(calibrations) * 1000, 4),
    )


def _saved(simulation: Simulation) -> bytes:
    """Encoded as it is stored."""
    return zlib.compress(simulation.checkpoint(), 1)


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = clock()
    result = work()
    return clock() - begin, result


def _megabytes() -> float:
    """The current memory of the process; its peak where the current one is unavailable."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        return peak_megabytes()
    return pages * resource.getpagesize() / (1 << 20)


if __name__ == "__main__":
    row = _measured(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
    sys.stdout.buffer.write(msgspec.json.encode(row))
