"""A copied text becomes what kubectl printed."""

from __future__ import annotations

from schedviz.ingest.pasted.plain_text import plain


def test_escape_sequences_are_removed() -> None:
    assert plain("\x1b[1;31mred\x1b[0m \x1b]0;title\x07plain\r\n") == "red plain\n"


def test_the_frame_of_a_terminal_program_is_removed() -> None:
    framed = "│ Name:       web-1 │\n│ Namespace:  shop  │\n│ Containers: │\n│   c:  │\n│ Node-Selectors:  disktype=ssd │\n"
    assert plain(framed).startswith("Name:       web-1")


def test_asterisks_in_names_are_kept_and_those_of_bold_text_removed() -> None:
    for text in ("ip-**-**-29-138.ec2.internal", "node-** is full", "**-29.ec2", "10.**.**.7", "a ** b", "**start and\n\nend**"):
        assert plain(text) == text
    assert plain("**Warning** on **`node-**-1`**: **4** nodes, (**bold**).") == "Warning on `node-**-1`: 4 nodes, (bold)."
