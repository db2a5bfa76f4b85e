"""The initial load of each page stays small: views that are not visible at first are loaded on demand."""

from __future__ import annotations

from tests.bench.bundle import MAX_BUNDLE_BYTES, sizes_of_pages


def test_every_page_stays_within_its_size_budget(chromium: str):
    sizes = sizes_of_pages()
    assert "src/views/sessionPage/SessionPage.svelte" in sizes
    too_large = {page: f"{size / 1024:.1f} KB" for page, size in sizes.items() if size > MAX_BUNDLE_BYTES}
    assert too_large == {}, "load what is not seen at first with `{#await import(…)}`"
