"""Texts that upstream passes to fmt.Sprintf as formats. The expected results are Go 1.21's."""

import pytest

from schedviz.engine.framework.go_format import without_arguments


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("no node has room", "no node has room"),
        ("disk is 100% full", "disk is 100%!f(MISSING)ull"),
        ("100% wrong", "100%!w(MISSING)rong"),
        ("50%", "50%!(NOVERB)"),
        ("50%%", "50%"),
        ("a%d b", "a%!d(MISSING) b"),
        ("%-08.3f", "%!f(MISSING)"),
        ("%*.*d", "%!(BADWIDTH)%!(BADPREC)%!d(MISSING)"),
        ("%[1]d", "%!d(BADINDEX)"),
        ("%[]", "%!](BADINDEX)"),
        ("%[d", "%!d(BADINDEX)"),
        ("%.", "%!.(MISSING)"),
        ("%é", "%!é(MISSING)"),
        ("%99999999d", "%!(NOVERB)"),
        (f"%{'9' * 5_000}d", "%!(NOVERB)"),
        (f"%{'0' * 5_000}1d", "%!d(MISSING)"),
        ("%d" * 3, "%!d(MISSING)" * 3),
    ],
)
def test_a_percent_sign_prints_a_missing_argument(text: str, printed: str) -> None:
    assert without_arguments(text) == printed
