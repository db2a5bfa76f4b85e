"""Rendering of texts as HTML."""

from __future__ import annotations

from schedviz.lessons import rendering


def test_a_line_break_inside_a_chinese_sentence_leaves_no_space():
    assert rendering.html("它的 Filter\n再读，\nFilter 不再\n运行。") == "<p>它的 Filter\n再读，Filter 不再运行。</p>\n"


def test_a_list_is_rendered_as_a_list():
    assert rendering.html("要点：\n- 一\n- 二").count("<li>") == 2


def test_html_in_a_text_is_escaped():
    assert rendering.html("<b>x</b>") == "<p>&lt;b&gt;x&lt;/b&gt;</p>\n"
