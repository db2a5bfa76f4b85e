"""Cards as images: of one width, as tall as their content, in both themes, whatever names and messages contain."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image

from schedviz.explain.card.build import card_of_overview, card_of_pod
from schedviz.explain.card.model import Bar, Card, Chart, Fix, Line, Reason
from schedviz.explain.card.png import png_of
from schedviz.explain.card.theme import THEME_NAMES, THEMES, ThemeName
from schedviz.explain.changes import smallest_change
from schedviz.explain.pending.overview import overview
from schedviz.explain.why import why_pending
from tests.explain.small_clusters import cluster, node, pod


def image_of(card: Card, theme: ThemeName = "light") -> Image.Image:
    image = Image.open(BytesIO(png_of(card, theme)))
    assert image.format == "PNG"
    return image.convert("RGB")


def colours_of(image: Image.Image) -> set[str]:
    counted = image.getcolors(1 << 24) or []
    return {f"#{bytes(colour).hex()}" for _, colour in counted if isinstance(colour, tuple)}


@pytest.mark.parametrize("theme", THEME_NAMES)
def test_an_image_has_the_colours_of_its_theme_for_use_request_reasons_and_fix(theme: ThemeName) -> None:
    large, small = pod("a", cpu="2", memory="12Gi", on="n1"), pod("p", cpu="3", memory="8Gi")
    simulation = cluster(node("n1"), node("n2", cordoned=True), small, large)
    explanation = why_pending(simulation, "default/p")
    image = image_of(card_of_pod(explanation, smallest_change(simulation, "default/p", explanation)), theme)
    colours = THEMES[theme]
    assert image.width == 1520
    assert image.getpixel((0, 0)) == tuple(bytes.fromhex(colours.paper[1:]))
    assert {colours.used, colours.reasons[0], colours.reasons[1], colours.success} <= colours_of(image)


def test_the_overview_is_as_tall_as_its_reasons() -> None:
    one = image_of(card_of_overview(overview(cluster(node("n1"), pod("a", cpu="64")))))
    two = image_of(card_of_overview(overview(cluster(node("n1"), pod("a", cpu="64"), pod("b", nodeSelector={"disk": "nvme"})))))
    assert two.height > one.height


def test_each_reason_beyond_the_first_few_has_a_line() -> None:
    reasons = [Reason(1, f"reason {number}", lines=(Line("", (f"a/p{number}",)),)) for number in range(9)]
    heights = [image_of(Card("", "", "9 pods are pending", "pods", tuple(reasons[:count]))).height for count in (7, 8, 9)]
    assert heights[2] - heights[1] == heights[1] - heights[0] > 0


def test_code_in_brackets_is_drawn_without_a_space_after_the_bracket() -> None:
    close, apart = (image_of(Card("a", "pending", f"2 are Fargate nodes ({gap}`compute-type=fargate`).", "nodes", ())) for gap in ("", " "))
    assert close.tobytes() != apart.tobytes()


def test_a_long_name_is_broken_between_its_words() -> None:
    """A line that ends with a whole word leaves the next word whole, so further letters of that word change no line above."""
    start = "namespace-test-a98ccf0f94fb427c87032338e/pod-test-"
    images = [image_of(Card(f"{start}{end}", "pending", "", "nodes", ())) for end in ("cephfsxxxxxxx", "cephfsxxxxxxxx")]
    first_lines = [image.crop((0, 0, image.width, 120)).tobytes() for image in images]
    assert images[0].height == images[1].height
    assert first_lines[0] == first_lines[1]


def test_a_name_is_drawn_as_it_is_written() -> None:
    """The contextual alternates of the font turn `2x9`, as in the hash of a pod, into a multiplication."""
    written, multiplied = (image_of(Card(f"checkout-{end}", "pending", "", "nodes", ())).tobytes() for end in ("x2x9p", "x2×9p"))
    assert written != multiplied


@pytest.mark.slow
@settings(max_examples=20)
@example("")
@example("\x00")
@example("`a` .")
@given(st.text(min_size=1, max_size=300) | st.sampled_from(["x" * 100_000, "a " * 100_000, "\u202e\x00\x1b", "名字"]))
def test_any_text_is_drawn_within_bounds(text: str) -> None:
    chart = Chart("spread", 1, (Bar(text, 1, 0, text[:40]),))
    reason = Reason(3, text, plugin=text, lines=(Line(text, (text,)),), nodes=(text,), charts=(chart,))
    fixes = (Fix(text, text, (text,)),) * 9
    card = Card(text, "pending", text, "nodes", (reason,) * 9, message=text, said=text, others=text, fixes=fixes)
    image = image_of(card)
    assert (image.width, image.height < 8_000) == (1520, True)


@pytest.mark.parametrize("words", range(10, 30))
def test_a_command_among_words_ends_before_the_margin(words: int) -> None:
    card = Card("p", "pending", "It waits.", "nodes", (), todo=f"Run `{'a b c d e f ' * words}`, and read it.")
    image = image_of(card)
    margin = image.crop((1520 - 2 * 32, 60, 1520, image.height - 60))
    assert margin.getcolors() == [(margin.width * margin.height, image.getpixel((0, 0)))]
