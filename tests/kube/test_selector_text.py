"""Selectors as people write them select what `kubectl -l` selects."""

from __future__ import annotations

import pytest

from schedviz.kube.selector_text import parse_selector
from schedviz.kube.selectors import SelectorError

LABELS = {"zone": "a", "cores": "16", "tier": "web", "gpu": "", "example.com/team": "blue"}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("zone=a", True),
        ("zone==a", True),
        ("zone = b", False),
        ("zone!=b", True),
        ("absent!=b", True),
        ("gpu", True),
        ("gpu=", True),
        ("!gpu", False),
        ("!absent", True),
        ("cores>8", True),
        ("cores > 16", False),
        ("cores<17,zone=a", True),
        ("absent>1", False),
        ("zone<1", False),
        ("zone in (a, b)", True),
        ("zone notin (a,b)", False),
        ("absent notin (a)", True),
        ("example.com/team=blue,tier=web", True),
        (" zone=a , tier=db ", False),
    ],
)
def test_a_selector_selects_what_kubectl_selects(text, matches):
    assert parse_selector(text).matches(LABELS) is matches


@pytest.mark.parametrize(
    "text",
    ["zone=a,", "=a", "zone in a", "zone=a tier=web", "a b", "(", "zone=spaced value", "-bad-=x", "cores>", "cores>a", "cores>=8", ">8"],
)
def test_an_invalid_selector_is_refused_with_the_expected_form(text: str):
    with pytest.raises(SelectorError):
        parse_selector(text)
