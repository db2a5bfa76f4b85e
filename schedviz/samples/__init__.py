"""Cases that ship with schedviz: trace files, each a story with a question, and everyday cases (`cases.py`)."""

from __future__ import annotations

from importlib import resources

import msgspec

from schedviz.samples.cases import cases

_FOLDER = resources.files(__name__)


class Sample(msgspec.Struct, frozen=True):
    """What a list of samples shows."""

    name: str
    description: str


class _Head(msgspec.Struct):
    name: str
    description: str = ""


def samples() -> list[Sample]:
    """All of them, by name."""
    heads = [msgspec.json.decode(file.read_bytes(), type=_Head) for file in _FOLDER.iterdir() if file.name.endswith(".json")]
    result = [Sample(head.name, head.description) for head in heads] + [Sample(case.name, case.seen) for case in cases()]
    return sorted(result, key=lambda sample: sample.name)


def sample(name: str) -> bytes:
    """The trace file of a sample. Raises LookupError."""
    for case in cases():
        if case.name == name:
            return msgspec.json.encode(case.trace)
    if name not in {sample.name for sample in samples()}:
        raise LookupError(f"there is no sample {name!r}; there are {', '.join(sample.name for sample in samples())}")
    return _FOLDER.joinpath(f"{name}.json").read_bytes()
