"""How different two pictures look, told by a browser: a picture in, numbers out, and nothing to install.

Both are looked at at half their size, so that how a machine smooths the edge of a letter does not count, in a space in which distances are what the
eye sees of them (YIQ, as pixelmatch weighs it: Kotsarenko, Ramos 2010).
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Final

from playwright.sync_api import Page

#: As share of the largest difference that two colours can have: less is not seen.
_SEEN: Final = 0.12

_SCRIPT: Final = """
async ([first, second, scale, seen]) => {
  const load = async (url, scaled) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    const w = Math.round(image.width * scaled), h = Math.round(image.height * scaled);
    const canvas = Object.assign(document.createElement("canvas"), { width: w, height: h });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, w, h);
    return { canvas, w, h, data: context.getImageData(0, 0, w, h).data };
  };
  const a = await load(first, scale);
  if (second === null) return a.canvas.toDataURL("image/webp", 0.82);
  const b = await load(second, 1);
  if (a.w !== b.w || a.h !== b.h) return 1;
  const yiq = (r, g, b) => [r * 0.29889531 + g * 0.58662247 + b * 0.11448223, r * 0.59597799 - g * 0.2741761 - b * 0.32180189, r * 0.21147017 - g * 0.52261711 + b * 0.31114694];
  let differing = 0;
  for (let i = 0; i < a.data.length; i += 4) {
    const [y, u, v] = yiq(a.data[i] - b.data[i], a.data[i + 1] - b.data[i + 1], a.data[i + 2] - b.data[i + 2]);
    if (0.5053 * y * y + 0.299 * u * u + 0.1957 * v * v > 35215 * seen * seen) differing += 1;
  }
  return differing / (a.w * a.h);
}
"""


def _url(picture: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(picture).decode()}"


def as_reference(page: Page, picture: bytes) -> bytes:
    """The picture as it is kept: half as large, as WebP."""
    url: str = page.evaluate(_SCRIPT, [_url(picture, "png"), None, 0.5, _SEEN])
    return base64.b64decode(url.partition(",")[2])


def difference(page: Page, picture: bytes, reference: Path) -> float:
    """The share of the picture that looks different from its reference, between 0 and 1; 1 where they are not of one size."""
    return float(page.evaluate(_SCRIPT, [_url(picture, "png"), _url(reference.read_bytes(), "webp"), 0.5, _SEEN]))
