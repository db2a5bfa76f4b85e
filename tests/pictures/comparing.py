"""Compares a picture with its reference, region by region.

Pixels are compared by pixelmatch (perceived colour difference, antialiasing recognised) in a browser, which reads every format. A missing button
is a thousandth of a picture, so differing pixels are counted per tile, and a tile in which more than a few pixels differ is a difference.
"""

from __future__ import annotations

import base64
import struct
from pathlib import Path
from typing import Any, Final

import msgspec
from playwright.sync_api import Page

#: The size of a tile in pixels, about a button; tiles overlap by half.
TILE: Final = 32
#: The share of a tile's pixels that may differ. Two runs of one tree on one machine have no differences; docs/decisions/0008 has measurements.
LIMIT: Final = 0.01
#: pixelmatch's threshold for a visible difference, between 0 and 1.
SEEN: Final = 0.1

_PIXELMATCH: Final = Path(__file__).resolve().parents[2] / "frontend/node_modules/pixelmatch/index.js"

_SCRIPT: Final = """
async ([taken, reference, size, seen]) => {
  const load = async (url) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    return { canvas, context, w: image.width, h: image.height, data: context.getImageData(0, 0, image.width, image.height) };
  };
  const a = await load(taken);
  if (reference === null) {
    // Steps of 16, which nobody sees, halve the file. Quality 1 is lossless.
    for (let at = 0; at < a.data.data.length; at++) if (at % 4 !== 3) a.data.data[at] = Math.min(255, Math.round(a.data.data[at] / 16) * 16);
    a.context.putImageData(a.data, 0, 0);
    return a.canvas.toDataURL("image/webp", 1);
  }
  const b = await load(reference);
  if (a.w !== b.w || a.h !== b.h) return { sizes: [[a.w, a.h], [b.w, b.h]], tiles: [] };
  const mask = a.context.createImageData(a.w, a.h);
  pixelmatch(b.data.data, a.data.data, mask.data, a.w, a.h, { threshold: seen, diffMask: true, aaColor: [0, 0, 0], diffColor: [255, 0, 0] });
  const tiles = [];
  for (let y = 0; y < a.h; y += size / 2)
    for (let x = 0; x < a.w; x += size / 2) {
      const w = Math.min(size, a.w - x), h = Math.min(size, a.h - y);
      let differing = 0;
      for (let row = y; row < y + h; row++) for (let at = (row * a.w + x) * 4, end = at + w * 4; at < end; at += 4) if (mask.data[at] === 255) differing++;
      if (differing) tiles.push([x, y, w, h, differing / (size * size)]);
    }
  return { sizes: [], tiles };
}
"""


class Region(msgspec.Struct, frozen=True):
    """A rectangle, in pixels, and the largest share of differing pixels of its tiles."""

    x: int
    y: int
    w: int
    h: int
    share: float


class ComparisonResult(msgspec.Struct, frozen=True):
    """The result of a comparison: equal, another size, or regions, the most different first."""

    regions: list[Region]
    #: Width and height of the picture and of the reference, if they differ.
    sizes: list[list[int]]
    #: The largest share of differing pixels in a tile, even below the limit.
    worst: float

    @property
    def alike(self) -> bool:
        return not self.regions and not self.sizes

    def __str__(self) -> str:
        if self.sizes:
            (w, h), (was_w, was_h) = self.sizes
            return f"{w} × {h} pixels, the reference has {was_w} × {was_h}"
        return (
            ", ".join(f"{region.w} × {region.h} at {region.x}, {region.y} ({region.share:.0%})" for region in self.regions[:4])
            or f"alike ({self.worst:.1%})"
        )


class PictureComparer:
    """Compares pictures in a browser page of its own."""

    def __init__(self, page: Page) -> None:
        self._page = page
        page.add_script_tag(content=_PIXELMATCH.read_text("utf-8").replace("export default ", ""))

    def as_reference(self, picture: bytes) -> bytes:
        """Convert a PNG to the stored format: WebP with few colours, without compression artefacts."""
        url: str = self._page.evaluate(_SCRIPT, [_url(picture, "png"), None, TILE, SEEN])
        return base64.b64decode(url.partition(",")[2])

    def look(self, picture: bytes, reference: bytes) -> ComparisonResult:
        """Compare a PNG with a reference."""
        result: dict[str, Any] = self._page.evaluate(_SCRIPT, [_url(picture, "png"), _url(reference, "webp"), TILE, SEEN])
        tiles = [Region(*tile) for tile in result["tiles"]]
        return ComparisonResult(
            regions=sorted(_joined([tile for tile in tiles if tile.share > LIMIT]), key=lambda region: -region.share),
            sizes=result["sizes"],
            worst=max((tile.share for tile in tiles), default=0.0),
        )


def size_of(picture: bytes) -> tuple[int, int]:
    """Width and height of a PNG."""
    width, height = struct.unpack(">II", picture[16:24])
    return width, height


def _url(picture: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(picture).decode()}"


def _joined(tiles: list[Region]) -> list[Region]:
    """Join adjacent tiles into regions."""
    regions: list[Region] = []
    for tile in tiles:
        touching = [region for region in regions if _touch(region, tile)]
        regions = [region for region in regions if region not in touching]
        regions.append(_around([*touching, tile]))
    return regions


def _touch(one: Region, other: Region) -> bool:
    return one.x <= other.x + other.w and other.x <= one.x + one.w and one.y <= other.y + other.h and other.y <= one.y + one.h


def _around(regions: list[Region]) -> Region:
    x, y = min(region.x for region in regions), min(region.y for region in regions)
    right, bottom = max(region.x + region.w for region in regions), max(region.y + region.h for region in regions)
    return Region(x, y, right - x, bottom - y, max(region.share for region in regions))
