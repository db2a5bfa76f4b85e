"""The forty reference pictures: their files, the comparison, and an HTML page of differences."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Final

import msgspec

from tests.pictures.comparing import ComparisonResult, PictureComparer

FOLDER: Final = Path(__file__).with_name("references")


class Comparison(msgspec.Struct, frozen=True):
    """A picture and the result of its comparison."""

    name: str
    #: None: it has no reference yet.
    looked: ComparisonResult | None

    @property
    def alike(self) -> bool:
        return self.looked is not None and self.looked.alike

    def __str__(self) -> str:
        return f"{self.name}: {self.looked or 'no reference yet'}"


def compare(comparer: PictureComparer, name: str, picture: bytes) -> Comparison:
    """Compare a PNG with the reference of the same name."""
    file = reference_of(name)
    return Comparison(name, comparer.look(picture, file.read_bytes()) if file.exists() else None)


def accept(comparer: PictureComparer, name: str, picture: bytes) -> None:
    """Store a picture as the reference."""
    FOLDER.mkdir(exist_ok=True)
    reference_of(name).write_bytes(comparer.as_reference(picture))


def reference_of(name: str) -> Path:
    return FOLDER / f"{name}.webp"


def drop_all_but(names: set[str]) -> None:
    """Remove the references of all other pictures."""
    for file in FOLDER.glob("*.webp"):
        if file.stem not in names:
            file.unlink()


_PAGE: Final = """<!doctype html>
<meta charset="utf-8"><title>Pictures that differ</title>
<style>
body {{ margin: 16px; font: 13px/1.5 system-ui, sans-serif; background: #777; color: #fff }}
figure {{ position: relative; display: inline-block; margin: 0 8px 32px 0; max-width: 48% }}
figure > div {{ position: relative }}
img {{ display: block; width: 100% }}
i {{ position: absolute; outline: 2px solid #f0f }}
</style>
<h1>{count} of {all} differ from their reference</h1>
<p>Left the reference, right what the page looks like now. If it is meant to: <code>make pictures ACCEPT=1</code>.</p>
{rows}
"""
_ROW: Final = """<h2>{name}</h2><p>{words}</p><figure><div><img src="{reference}">{boxes}</div></figure><figure><div><img src="{picture}">{boxes}</div></figure>"""


def write_differences(to: Path, comparisons: list[Comparison], sizes: dict[str, tuple[int, int]]) -> None:
    """Write the HTML page. `sizes`: the size of each picture in pixels; the pictures are PNG files beside the page."""
    differing = [comparison for comparison in comparisons if not comparison.alike]
    rows = "\n".join(_row(one, *sizes[one.name]) for one in differing)
    to.write_text(_PAGE.format(count=len(differing), all=len(comparisons), rows=rows), "utf-8")


def _row(one: Comparison, width: int, height: int) -> str:
    boxes = "".join(
        f'<i style="left:{region.x / width:.2%};top:{region.y / height:.2%};width:{region.w / width:.2%};height:{region.h / height:.2%}"></i>'
        for region in (one.looked.regions if one.looked else [])
    )
    reference = reference_of(one.name).as_uri() if one.looked else ""
    return _ROW.format(name=one.name, words=html.escape(str(one)), reference=reference, picture=f"{one.name}.png", boxes=boxes)
