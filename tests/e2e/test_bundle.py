"""What a browser loads before it draws a page stays small: a view that is not seen at first comes when it is wanted."""

from __future__ import annotations

from tests.bench.bundle import MOST, sizes_of_pages


def test_no_page_loads_more_than_it_may(chromium: str):
    sizes = sizes_of_pages()
    assert "src/views/ScopePage.svelte" in sizes
    too_large = {page: f"{size / 1024:.1f} KB" for page, size in sizes.items() if size > MOST}
    assert too_large == {}, "load what is not seen at first with `{#await import(…)}`"
