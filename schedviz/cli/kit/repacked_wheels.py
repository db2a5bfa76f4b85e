"""Wheels repacked from installed packages, so that nothing has to be downloaded."""

from __future__ import annotations

import base64
import hashlib
import re
import stat
import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

#: Written by the installer, not part of the wheel.
_INSTALLER_FILES = {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"}
_TAG = re.compile(r"^Tag: ([^-\s]+)-([^-\s]+)-(\S+)$", re.MULTILINE)
_EXECUTABLE = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH


def packable(name: str) -> Distribution | None:
    """The installed package with this name, if its files are known and belong to it alone. None: its wheel must be downloaded."""
    try:
        dist = distribution(name)
    except PackageNotFoundError:
        return None
    editable = '"editable": true' in (dist.read_text("direct_url.json") or "")
    return None if editable or not dist.files or not _tags(dist) else dist


def pack(installed: Distribution, folder: Path) -> Path:
    """Write the wheel of an installed package into a folder: a zip of its files with a list of their digests."""
    name = re.sub(r"[-_.]+", "_", installed.metadata["Name"])
    path = folder / f"{name}-{installed.version}-{_tags(installed)}.whl"
    listed: list[str] = []
    record = ""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for file in sorted(installed.files or [], key=str):
            if file.parts[0].endswith(".dist-info"):
                record = f"{file.parts[0]}/RECORD"
            # Scripts are outside; the installer generates them from the entry points.
            if ".." in file.parts or "__pycache__" in file.parts or file.name in _INSTALLER_FILES:
                continue
            source = Path(str(file.locate()))
            data = source.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            entry = zipfile.ZipInfo(str(file))
            entry.compress_type = zipfile.ZIP_DEFLATED
            # Keep executables such as a Redis server executable.
            entry.external_attr = (stat.S_IFREG | 0o644 | (source.stat().st_mode & _EXECUTABLE)) << 16
            wheel.writestr(entry, data)
            listed.append(f"{file},sha256={digest},{len(data)}")
        wheel.writestr(record, "\n".join([*listed, f"{record},,", ""]))
    return path


def _tags(installed: Distribution) -> str:
    """The platform tags for the wheel's file name; "" if unknown."""
    tags = _TAG.findall(installed.read_text("WHEEL") or "")
    return "-".join(".".join(dict.fromkeys(tag[part] for tag in tags)) for part in range(3)) if tags else ""
