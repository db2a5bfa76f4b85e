# ruff: noqa: INP001
"""Generates the synchronous client (schedviz/client/sync.py) from the asynchronous one (aio.py), as httpcore does.

    python tools/unasync.py [--check]

`--check` writes nothing and fails where the file differs from what would be generated. What cannot be derived is in
schedviz/client/runtime.py and default_server.py.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "schedviz/client/aio.py"
TARGET = ROOT / "schedviz/client/sync.py"
HEADER = "# Generated from aio.py by tools/unasync.py (make gen): do not edit.\n"
REPLACEMENTS = (
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAsync(Client|Session|Iterator|DefaultServer)\b", r"\1"),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
    (r"\ba(close)\(", r"\1("),
    (r"\basync_(\w+)", r"\1"),
)


def generated() -> str:
    """The source of sync.py."""
    text = SOURCE.read_text("utf-8")
    for pattern, replacement in REPLACEMENTS:
        text = re.sub(pattern, replacement, text)
    # Removes comments and imports that only the asynchronous source needs.
    text = _ruff("check", "--fix", "--unsafe-fixes", "--quiet", text=HEADER + text)
    return _ruff("format", "--quiet", text=text)


def _ruff(*arguments: str, text: str) -> str:
    command = [str(Path(sys.executable).with_name("ruff")), *arguments, "--stdin-filename", str(TARGET), "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, cwd=ROOT)  # noqa: S603 -- our own ruff.
    if done.returncode:
        sys.exit(f"{SOURCE}: ruff {arguments[0]} fails on the generated file:\n{done.stderr or done.stdout}")
    return done.stdout


def main(arguments: list[str]) -> int:
    text = generated()
    if "--check" not in arguments:
        TARGET.write_text(text, "utf-8")
    elif TARGET.read_text("utf-8") != text:
        sys.stderr.write(f"{TARGET} is not what aio.py generates: edit aio.py and run make gen.\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
